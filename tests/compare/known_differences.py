"""Programs that print something else on Rushlight than on torch, each with the reason.

Strict: a program that is listed here and prints the same fails the comparison. Longer reasons
stand in docs/notes/differences.md, under the headings that the reasons name.
"""

_ROUNDING = "The last digits: another order of rounding, both within float32's error"
_CONJUGATE = "Conjugates are computed at once: there is no conjugate bit"
_NAMES = "Modules and classes say where they come from"
_SHOWN = "Derivatives have no wrappers, vmap has one of its own class"

KNOWN: dict[str, str] = {
    # ---- numbers -------------------------------------------------------------------------------
    "activations_losses.smooth_activations": _ROUNDING,
    "activations_losses.attention": _ROUNDING,
    "activations_losses.softmaxes": _ROUNDING,
    "activations_losses.cross_entropy_with_probabilities": _ROUNDING,
    "anomaly_checkpoint.a_checkpoint_gives_the_same_gradients": _ROUNDING,
    "construction.complex_construction": _CONJUGATE,
    "construction.numpy_shares_memory_back": _CONJUGATE,
    # ---- the graph -----------------------------------------------------------------------------
    "graph.nodes_of_products": "Compound products take other steps",
    "graph.the_names_of_saved_values": "Nodes save what their formulas read",
    "saved_tensors.hooks_see_integers_and_masks_as_well": "Nodes save what their formulas read",
    # ---- transforms and modes ------------------------------------------------------------------
    "func_limits.dual_numbers_inside_vmap": "Dual numbers work inside vmap",
    "func_limits.the_class_of_an_example": _SHOWN,
    # ---- words ---------------------------------------------------------------------------------
    "custom_function_protocol.misuse_of_the_class": _NAMES,
    "input_errors.names_that_do_not_exist": _NAMES,
    "printing.other_objects": _NAMES,
    "input_errors.out_arguments_are_checked": "`out=5` is refused as no tensor",
    "input_errors.expand_repeat_and_split_errors": "Messages print tensors as Python does",
}
