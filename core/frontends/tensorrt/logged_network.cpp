#include "frontends/tensorrt/logged_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

namespace fusescope {
namespace {

constexpr std::int64_t kUsualOpset = 17;  // used if the log contains none
constexpr std::int64_t kIrVersion = 8;

/// Operators without attributes, which are determined by their operands.
constexpr std::array<std::string_view, 42> kPlain{"Abs",        "Acos",     "Add",   "And",         "Asin",
                                                  "Atan",       "Ceil",     "Cos",   "Div",         "Equal",
                                                  "Erf",        "Exp",      "Floor", "Greater",     "GreaterOrEqual",
                                                  "HardSwish",  "Identity", "Less",  "LessOrEqual", "Log",
                                                  "MatMul",     "Max",      "Mean",  "Min",         "Mul",
                                                  "Neg",        "Not",      "Or",    "Pow",         "PRelu",
                                                  "Reciprocal", "Relu",     "Round", "Sigmoid",     "Sign",
                                                  "Sin",        "Softplus", "Sqrt",  "Sub",         "Sum",
                                                  "Tan",        "Tanh"};

DataType typeNamed(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, DataType>, 14> kTypes{{{"FLOAT", DataType::F32},
                                                                          {"float32", DataType::F32},
                                                                          {"FLOAT16", DataType::F16},
                                                                          {"float16", DataType::F16},
                                                                          {"BFLOAT16", DataType::BF16},
                                                                          {"bfloat16", DataType::BF16},
                                                                          {"INT64", DataType::I64},
                                                                          {"int64", DataType::I64},
                                                                          {"INT32", DataType::I32},
                                                                          {"int32", DataType::I32},
                                                                          {"INT8", DataType::I8},
                                                                          {"int8", DataType::I8},
                                                                          {"BOOL", DataType::Bool},
                                                                          {"bool", DataType::Bool}}};
  const auto found = std::ranges::find(kTypes, name, &std::pair<std::string_view, DataType>::first);
  return found == kTypes.end() ? DataType::Undefined : found->second;
}

onnxlib::FileType typeOf(const EngineLog::Tensor& tensor) {
  onnxlib::FileType type{.dtype = typeNamed(tensor.type), .ranked = true};
  for (const std::int64_t extent : tensor.dims) type.dims.push_back({.size = extent < 0 ? -1 : extent});
  return type;
}

Diagnostic incompleteLog(const std::string& why) {
  return {.message = "the log does not describe the network: " + why,
          .help = "It is the log of a build from an ONNX file: trtexec --onnx=… --verbose > build.log."};
}

class LoggedNetworkBuilder {
 public:
  LoggedNetworkBuilder(const EngineLog& log, const std::string& name) : m_log(log) {
    onnxlib::FileModel& file = m_made.file;
    file.irVersion = kIrVersion;
    file.producer = "fusescope";
    file.opsets = {{"", log.opset > 0 ? log.opset : kUsualOpset}};
    file.metadata[kRebuiltFromKey] = name;
    file.graph.name = "rebuilt";
  }

  Result<LoggedNetwork> run() {
    if (m_log.nodes.empty()) return incompleteLog("it names none of its nodes");
    if (m_log.inputs.empty()) return incompleteLog("it names none of its inputs");
    for (const EngineLog::Tensor& input : m_log.inputs) {
      m_made.file.graph.inputs.push_back({.name = input.name, .type = typeOf(input)});
      m_known.insert(input.name);
    }
    for (const EngineLog::Node& node : m_log.nodes) TRY(add(node));
    addOutputs();
    if (m_made.unknown > 0) m_made.file.opsets.emplace(kLoggedDomain, 1);
    return std::move(m_made);
  }

 private:
  Status add(const EngineLog::Node& logged) {
    const auto inBody = [&](const std::string& what) {
      return incompleteLog(fmt::format(
          "it names {} twice, as happens if a node has bodies, because the log lists their nodes too", what));
    };
    if (!m_names.insert(logged.name).second) return inBody("the node " + logged.name);
    onnxlib::FileNode node{.name = logged.name, .op = logged.op};
    for (const EngineLog::Tensor& input : logged.inputs) {
      node.inputs.push_back(input.name);
      if (!input.name.empty() && !m_known.contains(input.name)) addWeight(input);
    }
    for (const EngineLog::Tensor& output : logged.outputs) {
      if (!m_known.insert(output.name).second) return inBody("the tensor " + output.name);
      node.outputs.push_back(output.name);
      m_made.file.graph.values.push_back({.name = output.name, .type = typeOf(output)});
    }
    if (node.outputs.empty()) return incompleteLog("it does not describe what the node " + logged.name + " makes");
    if (!takeAttributes(logged, node)) {
      node.domain = kLoggedDomain;
      ++m_made.unknown;
    }
    m_made.file.graph.nodes.push_back(std::move(node));
    return Done{};
  }

  void addWeight(const EngineLog::Tensor& tensor) {
    m_known.insert(tensor.name);
    ++m_made.weights;
    m_made.file.graph.initializers.push_back(
        {.name = tensor.name, .dtype = typeNamed(tensor.type), .dims = tensor.dims});
  }

  /// Returns false if the log does not contain everything that the operator needs.
  bool takeAttributes(const EngineLog::Node& logged, onnxlib::FileNode& node) {
    if (logged.op == "Conv" && logged.window) {
      const EngineLog::Window& window = *logged.window;
      std::vector<std::int64_t> pads = window.padsBefore;
      pads.insert(pads.end(), window.padsBehind.begin(), window.padsBehind.end());
      node.attributes = {attribute("kernel_shape", window.kernel), attribute("strides", window.strides),
                         attribute("pads", pads), attribute("dilations", window.dilations),
                         attribute("group", window.groups)};
      return true;
    }
    if (logged.op == "Gemm" && logged.isTransposed) {
      node.attributes = {attribute("transA", std::int64_t{logged.isTransposed->first}),
                         attribute("transB", std::int64_t{logged.isTransposed->second})};
      return true;
    }
    if (logged.op == "Reshape") return takeReshape(logged);
    return std::ranges::find(kPlain, logged.op) != kPlain.end();
  }

  /// The extents of the result are the requested ones, if at most one of them is open.
  bool takeReshape(const EngineLog::Node& logged) {
    auto& weights = m_made.file.graph.initializers;
    const auto target = logged.inputs.size() != 2
                            ? weights.end()
                            : std::ranges::find(weights, logged.inputs[1].name, &onnxlib::FileTensor::name);
    const auto& dims = logged.outputs.front().dims;
    const auto open = std::ranges::count_if(dims, [](std::int64_t extent) { return extent < 0; });
    if (target == weights.end() || target->dtype != DataType::I64 || open > 1) return false;
    const auto extents = std::make_shared<const std::vector<std::int64_t>>(dims);
    target->owner = extents;
    target->data = reinterpret_cast<const std::byte*>(extents->data());
    target->hasData = true;
    return target->dims == std::vector<std::int64_t>{std::ssize(dims)};
  }

  template <class Value>
  static onnxlib::FileAttribute attribute(const char* name, Value value) {
    return {.name = name, .reference = {}, .value = std::move(value)};
  }

  /// Adds the marked outputs, or else the values that no node reads.
  void addOutputs() {
    onnxlib::FileGraph& graph = m_made.file.graph;
    std::set<std::string> read;
    for (const onnxlib::FileNode& node : graph.nodes) read.insert(node.inputs.begin(), node.inputs.end());
    for (const onnxlib::FileValue& value : graph.values) {
      const bool isMarked = std::ranges::find(m_log.outputs, value.name) != m_log.outputs.end();
      if (isMarked || (m_log.outputs.empty() && !read.contains(value.name))) graph.outputs.push_back(value);
    }
  }

  const EngineLog& m_log;
  LoggedNetwork m_made;
  std::set<std::string> m_known, m_names;  ///< tensors; nodes
};

}  // namespace

Result<LoggedNetwork> networkOfLog(const EngineLog& log, const std::string& name) {
  return LoggedNetworkBuilder(log, name).run();
}

}  // namespace fusescope
