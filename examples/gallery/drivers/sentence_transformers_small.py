"""sentence-transformers: a small encoder of its own words, trained by contrast and by cosine."""

NEEDS = [
    "sentence-transformers==6.2.0",
    "transformers==5.23.0",
    "scikit-learn==1.9.1",
    "pillow==13.0.0",
    "jinja2==3.1.6",
    "markupsafe==3.0.4",
    "urllib3==2.7.0",
    "charset_normalizer==3.4.7",
]
RTOL = 5e-3


def main():
    import tempfile
    from pathlib import Path

    import torch
    from sentence_transformers import SentenceTransformer, losses, models, util
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    words = "a the cat dog sat ran on mat road red blue big small sun moon rises"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "vocab.txt").write_text(
            "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words.split()])
        )
        BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
        config = BertConfig(
            vocab_size=5 + len(words.split()), hidden_size=32, num_hidden_layers=2,
            intermediate_size=48, num_attention_heads=4, max_position_embeddings=32,
        )  # fmt: skip
        BertModel(config).save_pretrained(folder)
        encoder = models.Transformer(str(folder), max_seq_length=16)
    model = SentenceTransformer(
        modules=[encoder, models.Pooling(32), models.Normalize()], device="cpu"
    )
    left = ["the cat sat on the mat", "the big dog ran", "the red sun rises", "a small moon"]
    right = ["a cat sat on a mat", "a dog ran on the road", "a sun rises", "the blue moon"]
    features = [model.tokenize(side) for side in (left, right)]
    model.eval()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    results = {"before": util.cos_sim(model.encode(left), model.encode(right))}
    for criterion, labels in (
        (losses.MultipleNegativesRankingLoss(model), None),
        (losses.CosineSimilarityLoss(model), torch.tensor([0.9, 0.6, 0.8, 0.3])),
    ):
        seen = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = criterion([dict(side) for side in features], labels)
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        results[type(criterion).__name__] = seen
    results["after"] = util.cos_sim(model.encode(left), model.encode(right))
    return results
