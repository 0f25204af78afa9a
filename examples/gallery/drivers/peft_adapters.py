"""peft: a small GPT-2 tuned by low-rank and by scaling adapters, then merged."""

NEEDS = [
    "peft==0.21.2",
    "transformers==5.23.0",
    "accelerate==1.15.0",
    "psutil==7.2.2",
    "jinja2==3.1.6",
    "markupsafe==3.0.4",
    "urllib3==2.7.0",
    "charset_normalizer==3.4.7",
]
RTOL = 2e-3


def main():
    import torch
    from peft import IA3Config, LoraConfig, TaskType, get_peft_model, get_peft_model_state_dict
    from transformers import GPT2Config, GPT2LMHeadModel

    def tuned(config):
        torch.manual_seed(0)
        base = GPT2LMHeadModel(
            GPT2Config(vocab_size=64, n_positions=16, n_embd=32, n_layer=2, n_head=4)
        )
        model = get_peft_model(base, config)
        batch = torch.randint(0, 64, (4, 12))
        optimizer = torch.optim.AdamW(
            [p for p in model.parameters() if p.requires_grad], lr=1e-2, foreach=False
        )
        losses = []
        model.eval()  # no dropout
        for _ in range(5):
            loss = model(input_ids=batch, labels=batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        state = get_peft_model_state_dict(model)
        counts = model.get_nb_trainable_parameters()
        merged = model.merge_and_unload()
        with torch.no_grad():
            scores = merged(input_ids=batch).logits
        return losses, [value.norm() for value in state.values()], counts, scores

    lora = LoraConfig(
        task_type=TaskType.CAUSAL_LM, r=4, lora_alpha=8, target_modules=["c_attn"], use_dora=False
    )
    scaled = IA3Config(
        task_type=TaskType.CAUSAL_LM,
        target_modules=["c_attn", "c_fc"],
        feedforward_modules=["c_fc"],
    )
    results = {}
    for name, config in (("lora", lora), ("ia3", scaled)):
        losses, state, counts, scores = tuned(config)
        results |= {
            f"{name} losses": losses,
            f"{name} state": state,
            f"{name} parameters": counts,
            f"{name} scores": scores,
        }
    return results
