"""ignite: a trainer with metrics, handlers, a schedule and early stopping."""

NEEDS = ["pytorch-ignite==0.5.5", "packaging==26.3"]
RTOL = 1e-3


def main():
    import torch
    from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
    from ignite.handlers import EarlyStopping, LRScheduler, PiecewiseLinear
    from ignite.metrics import Accuracy, ConfusionMatrix, Loss, Precision, Recall, RunningAverage
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    data = [(torch.randn(16, 8), torch.randint(0, 3, (16,))) for _ in range(8)]
    trainer = create_supervised_trainer(net, optimizer, criterion)
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "average")
    evaluator = create_supervised_evaluator(
        net,
        metrics={
            "accuracy": Accuracy(),
            "loss": Loss(criterion),
            "precision": Precision(average=True),
            "recall": Recall(average=False),
            "confusion": ConfusionMatrix(3),
        },
    )
    schedule = LRScheduler(torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.5))
    trainer.add_event_handler(Events.ITERATION_STARTED, schedule)
    stopping = EarlyStopping(2, lambda engine: -engine.state.metrics["loss"], trainer)
    evaluator.add_event_handler(Events.COMPLETED, stopping)
    averages = []

    @trainer.on(Events.EPOCH_COMPLETED)
    def evaluate(engine):
        evaluator.run(data)
        averages.append(engine.state.metrics["average"])

    trainer.run(data, max_epochs=4)
    other = PiecewiseLinear(optimizer, "lr", milestones_values=[(0, 0.1), (4, 0.5), (8, 0.0)])
    rates = []
    for _ in range(6):
        other(None)
        rates.append(optimizer.param_groups[0]["lr"])
    return {"averages": averages, "rates": rates, **evaluator.state.metrics}
