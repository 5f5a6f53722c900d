"""Records the values of tensors inside an ONNX network."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime

from goryu.evaluators.formats.base import Array

Floats = npt.NDArray[np.float32]


def record(
    model: onnx.ModelProto, tensors: Iterable[str], batches: Iterable[dict[str, Array]]
) -> Iterator[dict[str, Floats]]:
    """Yields, for each batch, the values of the named tensors of a float network, as float32.

    batches: inputs of the network, by name; `tensors` may name inputs too.
    """
    names = sorted(set(tensors))
    extended = onnx.ModelProto()
    extended.CopyFrom(model)
    own = {value.name for value in (*model.graph.input, *model.graph.output)}
    for name in names:
        if name not in own:
            extended.graph.output.append(
                onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
            )
    session = onnxruntime.InferenceSession(extended.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = [output.name for output in session.get_outputs()]
    for batch in batches:
        seen = batch | dict(zip(outputs, session.run(outputs, batch), strict=True))
        yield {name: np.asarray(seen[name], np.float32) for name in names}
