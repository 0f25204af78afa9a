"""transformers: small GPT-2, BERT and LLaMA trained from scratch, and generation."""

NEEDS = ["transformers==5.23.0"]
RTOL = 2e-3


def main():
    import torch
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        GPT2Config,
        GPT2LMHeadModel,
        LlamaConfig,
        LlamaForCausalLM,
    )

    def train(model, batch, steps=4):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    torch.manual_seed(0)
    tokens = torch.randint(0, 64, (2, 24))
    results = {}
    gpt = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=64,
            n_positions=32,
            n_embd=32,
            n_layer=2,
            n_head=4,
            resid_pdrop=0,
            embd_pdrop=0,
            attn_pdrop=0,
            bos_token_id=0,
            eos_token_id=0,
        )
    )
    results["gpt2"] = train(gpt, {"input_ids": tokens, "labels": tokens})
    gpt.eval()
    results["generated"] = gpt.generate(
        tokens[:1, :4], max_new_tokens=6, do_sample=False, pad_token_id=0
    )
    bert = BertForSequenceClassification(
        BertConfig(
            vocab_size=64,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=32,
            num_labels=3,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    )
    results["bert"] = train(
        bert,
        {
            "input_ids": tokens,
            "attention_mask": torch.ones_like(tokens),
            "labels": torch.tensor([0, 2]),
        },
    )
    llama = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=64,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=64,
        )
    )
    results["llama"] = train(llama, {"input_ids": tokens, "labels": tokens})
    return results
