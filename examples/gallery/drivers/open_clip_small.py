"""open_clip: a small pair of towers for pictures and words, trained by contrast."""

NEEDS = [
    "open_clip_torch==3.3.0",
    "timm==1.0.31",
    "torchvision==0.28.0",
    "ftfy==6.3.1",
    "wcwidth==0.9.4",
    "regex==2026.5.9",
    "pillow==13.0.0",
    "huggingface_hub==2.4.0",
    "safetensors==0.8.0",
    "requests==2.34.2",
]
RTOL = 5e-3


def main():
    import torch
    from open_clip.loss import ClipLoss
    from open_clip.model import CLIP

    torch.manual_seed(0)
    net = CLIP(
        embed_dim=32,
        vision_cfg={"image_size": 32, "layers": 2, "width": 64, "head_width": 32, "patch_size": 8},
        text_cfg={"context_length": 12, "vocab_size": 100, "width": 32, "heads": 2, "layers": 2},
    )
    criterion = ClipLoss()
    pictures, words = torch.randn(4, 3, 32, 32), torch.randint(1, 100, (4, 12))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = criterion(*net(pictures, words))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        images, texts = net.encode_image(pictures, True), net.encode_text(words, True)
    return {"losses": losses, "images": images, "texts": texts, "scale": net.logit_scale}
