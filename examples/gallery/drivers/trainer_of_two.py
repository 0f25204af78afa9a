"""transformers: a Trainer in two processes, with evaluation, a checkpoint, and going on from it."""

NEEDS = [
    "transformers==5.23.0", "accelerate==1.15.0", "psutil==7.2.2", "mpi4py", "mpich",
]  # fmt: skip
RANKS = 2
RTOL = 1e-6


def main():
    import os
    import tempfile

    import torch
    import torch.distributed as dist
    from transformers import (
        GPT2Config,
        GPT2LMHeadModel,
        Trainer,
        TrainerCallback,
        TrainingArguments,
        set_seed,
    )

    class Tokens(torch.utils.data.Dataset):
        def __init__(self, count, seed):
            made = torch.Generator().manual_seed(seed)
            start = torch.randint(0, 32, (count, 1), generator=made)
            self.rows = (start + torch.arange(16) * torch.randint(1, 4, (count, 1))) % 32

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return {"input_ids": self.rows[index], "labels": self.rows[index]}

    def model():
        return GPT2LMHeadModel(
            GPT2Config(
                vocab_size=32, n_positions=16, n_embd=32, n_layer=2, n_head=2, bos_token_id=0,
                eos_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
            )
        )  # fmt: skip

    class Norms(TrainerCallback):
        def on_step_end(self, args, state, control, model=None, **more):
            norms.append(torch.stack([p.detach().norm() for p in model.parameters()]).norm())

    norms = []
    set_seed(0)
    train, held = Tokens(64, 1), Tokens(24, 2)

    def trainer(steps, folder):
        arguments = TrainingArguments(
            output_dir=folder, max_steps=steps, per_device_train_batch_size=4, learning_rate=3e-3,
            per_device_eval_batch_size=4, gradient_accumulation_steps=2, logging_steps=1,
            save_steps=4, eval_strategy="steps", eval_steps=4, use_cpu=True, report_to=[],
            disable_tqdm=True, seed=3, lr_scheduler_type="cosine", warmup_steps=2,
            dataloader_pin_memory=False,
        )  # fmt: skip
        return Trainer(
            model=model(), args=arguments, train_dataset=train, eval_dataset=held,
            callbacks=[Norms()],
        )  # fmt: skip

    first = trainer(4, tempfile.mkdtemp())
    places = [first.args.output_dir]
    dist.broadcast_object_list(places, src=0)
    first.args.output_dir = places[0]
    first.train()
    second = trainer(8, places[0])
    second.train(resume_from_checkpoint=os.path.join(places[0], "checkpoint-4"))
    history = second.state.log_history  # that of the first is in the checkpoint
    return {
        "losses": [entry["loss"] for entry in history if "loss" in entry],
        "evaluations": [entry["eval_loss"] for entry in history if "eval_loss" in entry],
        "gradients": [entry["grad_norm"] for entry in history if "grad_norm" in entry],
        "norms": norms, "ranks": dist.get_world_size(), "step": second.state.global_step,
        "state": [p.detach().norm() for p in second.model.parameters()],
    }  # fmt: skip
