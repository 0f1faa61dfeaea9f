#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "frontends/tensorrt/layer_list.h"

namespace fusescope {

/// The information, other than layers, in a log of trtexec or of another program that builds an engine with verbose
/// messages.
struct EngineLog {
  struct Tensor {
    std::string name;
    std::string type;  ///< "FLOAT"
    std::vector<std::int64_t> dims;
  };
  /// The attributes of a convolution, as the parser logs them.
  struct Window {
    std::vector<std::int64_t> kernel, strides, padsBefore, padsBehind, dilations;
    std::int64_t groups = 1;
  };
  /// A node of the ONNX file, as the parser logs it.
  struct Node {
    std::string name, op;
    std::vector<Tensor> inputs, outputs;
    std::optional<Window> window{};                       ///< for a Conv
    std::optional<std::pair<bool, bool>> isTransposed{};  ///< for a Gemm: whether each of its two factors is transposed
  };
  /// How the kernel of a layer was chosen, over all formats that were tried.
  struct Tactics {
    std::string layer;
    std::int64_t timed = 0, skipped = 0;
    std::optional<double> fastestMs{};
    std::string fastest{};  ///< name of the kernel, or its number
    std::string runner{};   ///< what was chosen in the end: "CaskConvolution"
  };
  /// A type that was set for a layer of TensorRT's network.
  struct TypeSet {
    std::string layer, type;
  };

  std::string version;                 ///< "10.16.1"; empty if it is not in the log
  std::string device;                  ///< "NVIDIA H100 PCIe"; empty if it is not in the log
  std::string driver;                  ///< version of the device's driver; empty if it is not in the log
  std::string command;                 ///< the command line of trtexec; empty if it is not in the log
  std::string precision;               ///< "FP32+FP16"; empty if it is not in the log
  std::string constraints;             ///< "obey" or "prefer" if it is in the log but not in a command; otherwise empty
  std::int64_t opset = 0;              ///< opset of the ONNX file; 0 if it is not in the log
  std::vector<Tensor> inputs{};        ///< inputs of the network
  std::vector<std::string> outputs{};  ///< outputs of the network, by their names in the ONNX file
  std::vector<Node> nodes;
  std::vector<ListedLayer> layers;  ///< layers of the engine that was built; empty if the log does not list them
  std::map<std::string, std::string, std::less<>> nodeOfLayer;  ///< by layer of TensorRT's network, before fusion
  std::map<std::string, std::vector<std::string>, std::less<>>
      regions;                   ///< by "{ForeignNode[…]}": names as in namesInMetadata()
  std::vector<Tactics> tactics;  ///< in the order in which they were tried
  std::vector<TypeSet> typesSet;
  std::vector<std::string> typesIgnored;  ///< layers for which no kernel supports the requested types
  std::vector<std::string> warnings;      ///< without duplicates
  std::optional<std::int64_t> activationBytes, weightBytes, scratchBytes;

  const Tactics* tacticsOf(std::string_view layer) const;  ///< null if the log contains nothing about the layer
};

/// Reads a log and ignores what it does not understand. It is an error if it understands nothing.
Result<EngineLog> parseEngineLog(std::string_view text);

/// Returns "10.16.1" for "v101601" and "8.6.1" for "v8601"; empty if the text is not such a number.
std::string versionInWords(std::string_view number);

}  // namespace fusescope
