"""Gradients in six short steps: what is recorded, how it is run backwards and how to leave it off.

python examples/tutorial.py
"""

import rushlight as torch

torch.manual_seed(0)


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


heading("1. One layer")
# Two tensors are given, x and the answer that we would like. Two are to be learnt: the weights w
# and the biases b. Saying requires_grad=True is all it takes to get derivatives by them.
x = torch.ones(5)
wanted = torch.zeros(3)
w = torch.randn(5, 3, requires_grad=True)
b = torch.randn(3, requires_grad=True)
z = torch.matmul(x, w) + b
loss = torch.nn.functional.binary_cross_entropy_with_logits(z, wanted)
print("the layer says", z)
print("which costs   ", loss)

heading("2. What was recorded")
# Every result knows the function that leads back to what it was made from. Nobody made w, so it has
# none: it is a leaf. No graph was declared; it is what the lines above happened to do.
print("made loss:", loss.grad_fn.name())
print("made z:   ", z.grad_fn.name())
print("before z: ", [function.name() for function, _ in z.grad_fn.next_functions])
print("made w:   ", w.grad_fn, "- is it a leaf?", w.is_leaf)

heading("3. Backward")
# One call walks that graph from the loss to the leaves and leaves d loss / d w in w.grad.
loss.backward()
print("w.grad =", w.grad)
print("b.grad =", b.grad)

# The same number by hand: a small step on b[0] changes the loss by about b.grad[0] times the step.
step = 1e-3
with torch.no_grad():
    nudged = torch.matmul(x, w) + b + torch.tensor([step, 0.0, 0.0])
    change = torch.nn.functional.binary_cross_entropy_with_logits(nudged, wanted) - loss
print(f"b.grad[0] is {b.grad[0].item():.3f}, a small step says {change.item() / step:.3f}")

heading("4. Once per graph, and gradients add up")
# Backward frees what the graph has saved, unless it is told to keep it.
try:
    loss.backward()
except RuntimeError as error:
    print("a second backward:", str(error).split(".")[0])

a = torch.eye(3, requires_grad=True)
squares = (a + 1).pow(2)
# squares isn't one number, so backward has to be told what each of its elements counts.
squares.backward(torch.ones_like(squares), retain_graph=True)
print("after one backward: ", a.grad[0])
squares.backward(torch.ones_like(squares), retain_graph=True)
print("after another one:  ", a.grad[0])
a.grad.zero_()
squares.backward(torch.ones_like(squares))
print("zeroed in between:  ", a.grad[0])

heading("5. Leaving it off")
# Nothing is recorded inside no_grad; detach gives the same numbers without their history.
print("recorded: ", (torch.matmul(x, w) + b).requires_grad)
with torch.no_grad():
    print("no_grad:  ", (torch.matmul(x, w) + b).requires_grad)
print("detached: ", z.detach().requires_grad)
# A leaf can be frozen and thawed again.
w.requires_grad_(False)
print("frozen w, free b:", (torch.matmul(x, w) + b).requires_grad)
w.requires_grad_(True)

heading("6. Learning is a loop of this")
# The graph is made anew each time round, so the loop may take a different way each time.
for turn in range(5):
    loss = torch.nn.functional.binary_cross_entropy_with_logits(torch.matmul(x, w) + b, wanted)
    w.grad = b.grad = None
    loss.backward()
    with torch.no_grad():  # the update itself is not part of what we differentiate
        w -= 0.5 * w.grad
        b -= 0.5 * b.grad
    print(f"turn {turn}: loss {loss.item():.4f}")
