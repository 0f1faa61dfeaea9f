#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "base/result.h"

namespace fusescope {

// The list of an engine's layers as TensorRT prints it: "Layers:", then one line per layer. Names are printed as they
// are, so that a name with line ends, commas or brackets makes a list ambiguous. A caller that numbers the nodes of a
// network before it is compiled avoids this. Nothing here depends on a network.

/// A tensor that a layer reads or writes.
struct ListedTensor {
  std::string name;
  std::string type;  ///< "Float", as it is printed
  std::vector<std::int64_t> dims, strides, strideOrder;
  std::string format;         ///< "(Linear) Row major linear format", as it is printed
  std::string location = {};  ///< "Device", "Host"; empty if it is not given
};

struct ListedLayer {
  std::string name;
  std::string type;    ///< LayerType: "gemm", "kgen", …
  std::string tactic;  ///< name of the tactic; empty if it is not given
  std::optional<std::int64_t> stream{};
  std::vector<ListedTensor> inputs{}, constants{}, outputs{};
  std::string metadata{};   ///< as it is printed; namesInMetadata() reads it
  std::string parameter{};  ///< ParameterType: "Convolution"; empty if it is not given
  std::string origin{};     ///< for a Reformat: "REFORMAT", or "QDQ" if it is a quantiser of the network
  std::string weights{};    ///< type of its weights, as it is printed; empty if there are none or it is not given
};

/// Returns the layers of a list in its order, in which they run. Text after them, such as the list of inputs and
/// outputs, is not read. Errors give the line of the list and the words.
Result<std::vector<ListedLayer>> parseLayerList(std::string_view text);

/// Returns the text of each "[ONNX Layer: …]": "n12", or "n3 | true_graph_0 (then_branch) | n2 (If)" for a node in a
/// body.
std::vector<std::string> namesInMetadata(std::string_view metadata);

/// Returns the nodes of the network that a layer names, without knowing the network: those in its metadata or, if there
/// are none, the parts of its name, "A" and "B" of "A + B", "A || B" or "PWN(A, B)". Parts that TensorRT generated are
/// left out.
std::vector<std::string> nodesSaidBy(const ListedLayer& layer);

/// Returns the type that TensorRT prints as "Float", "Half", …, or in a format, such as "Row major linear FP16 format".
/// It is Undefined if the type is unknown.
DataType listedType(std::string_view type);

/// Returns what a format contains besides the type: "Row major linear" of "Row major linear FP16 format", "Channel
/// major, channel % 8 == 0" of "Channel major FP16 format where channel % 8 == 0". It is empty if there is nothing
/// else, as in "Float".
std::string layoutIn(std::string_view format);

}  // namespace fusescope
