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

/// What a log of trtexec, or of another program that builds an engine with verbose messages, tells beside the layers.
struct EngineLog {
  struct Tensor {
    std::string name;
    std::string type;  ///< "FLOAT"
    std::vector<std::int64_t> dims;
  };
  /// What the parser says of a convolution.
  struct Window {
    std::vector<std::int64_t> kernel, strides, padsBefore, padsBehind, dilations;
    std::int64_t groups = 1;
  };
  /// A node of the ONNX file as the parser met it.
  struct Node {
    std::string name, op;
    std::vector<Tensor> inputs, outputs;
    std::optional<Window> window{};                       ///< of a Conv
    std::optional<std::pair<bool, bool>> isTransposed{};  ///< of a Gemm: its two factors
  };
  /// How kernels were chosen for a layer, over all formats that were tried.
  struct Tactics {
    std::string layer;
    std::int64_t timed = 0, skipped = 0;
    std::optional<double> fastestMs{};
    std::string fastest{};  ///< the name of the kernel, else its number
    std::string runner{};   ///< what was chosen in the end: "CaskConvolution"
  };
  /// A type that was set for a layer of TensorRT's network.
  struct TypeSet {
    std::string layer, type;
  };

  std::string version;           ///< "10.16.1"; empty: it is not said
  std::string device;            ///< "NVIDIA H100 PCIe"; empty: it is not said
  std::string driver;            ///< of the device; empty: it is not said
  std::string command;           ///< of trtexec, with its options; empty: it is not said
  std::string precision;         ///< "FP32+FP16"; empty: it is not said
  std::string constraints;       ///< "obey" or "prefer", where whoever built says so in no command; empty: it does not
  std::int64_t opset = 0;        ///< of the ONNX file; 0: it is not said
  std::vector<Tensor> inputs{};  ///< of the network
  std::vector<std::string> outputs{};  ///< of the network, by their names in the ONNX file
  std::vector<Node> nodes;
  std::vector<ListedLayer> layers;  ///< of the engine that it was built as; empty: it does not list them
  std::map<std::string, std::string, std::less<>> nodeOfLayer;  ///< by layer of TensorRT's network, before fusion
  std::map<std::string, std::vector<std::string>, std::less<>>
      regions;                   ///< by "{ForeignNode[…]}": as namesInMetadata()
  std::vector<Tactics> tactics;  ///< in the order in which they were tried
  std::vector<TypeSet> typesSet;
  std::vector<std::string> typesIgnored;  ///< layers of which no kernel obeys the types that were asked for
  std::vector<std::string> warnings;      ///< each once
  std::optional<std::int64_t> activationBytes, weightBytes, scratchBytes;

  const Tactics* tacticsOf(std::string_view layer) const;  ///< null: nothing is told
};

/// Reads a log as far as it is understood. Error: nothing in it is.
Result<EngineLog> parseEngineLog(std::string_view text);

/// "10.16.1" of "v101601", "8.6.1" of "v8601"; empty: it is no such number.
std::string versionInWords(std::string_view number);

}  // namespace fusescope
