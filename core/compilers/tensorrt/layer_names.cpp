#include "compilers/tensorrt/layer_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// The most ends that are tried for each part of a name. Names with more parts than this are read part by part.
constexpr std::size_t kMostEnds = 512;

std::string withUnderscores(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '.', '_');
  return text;
}

/// Returns "classifier.1" for "/classifier/classifier.1/Gemm" and for "/classifier/1/addmm": the path without its last
/// part, where a part may repeat the part before it.
std::string moduleOf(std::string_view path) {
  std::vector<std::string> parts = split(path, '/');
  std::erase(parts, std::string());
  if (parts.size() < 2) return {};
  parts.pop_back();
  std::string module, before;
  for (const std::string& part : parts) {
    std::string_view own = part;
    if (!before.empty() && own.starts_with(before + ".")) own.remove_prefix(before.size() + 1);
    if (!module.empty()) module += '.';
    module += own;
    before = part;
  }
  return module;
}

/// Returns the operators that a kind of layer of Torch-TensorRT may represent; empty: any operator.
std::vector<std::string_view> operatorsOf(std::string_view kind) {
  static const std::map<std::string_view, std::vector<std::string_view>> kOperators{
      {"CONVOLUTION", {"Conv"}},
      {"DECONVOLUTION", {"ConvTranspose"}},
      {"RELU", {"Relu"}},
      {"SIGMOID", {"Sigmoid"}},
      {"TANH", {"Tanh"}},
      {"CLIP", {"Clip"}},
      {"MAX", {"MaxPool"}},
      {"AVERAGE", {"AveragePool", "GlobalAveragePool"}},
      {"SOFTMAX", {"Softmax"}},
      {"MATRIX_MULTIPLY", {"Gemm", "MatMul"}},
      {"FULLY_CONNECTED", {"Gemm", "MatMul"}},
      {"SHUFFLE", {"Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze"}},
      {"CONCATENATION", {"Concat"}},
      {"SLICE", {"Slice", "Split"}},
      {"GATHER", {"Gather"}}};
  const auto found = kOperators.find(kind);
  return found == kOperators.end() ? std::vector<std::string_view>() : found->second;
}

/// Returns the text before a suffix such as "_12"; nullopt if there is no number.
std::optional<std::string_view> withoutNumber(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
  if (end == name.size() || end < 2 || name[end - 1] != '_') return std::nullopt;
  return name.substr(0, end - 1);
}

/// Returns "/classifier/classifier_1/Gemm" for "/classifier/classifier_1/Gemm_myl9_2"; nullopt if it is not a kernel of
/// a region.
std::optional<std::string_view> insideOfRegion(std::string_view name) {
  const std::size_t mark = name.rfind("_myl");
  if (mark == std::string_view::npos || mark == 0) return std::nullopt;
  const auto isNumber = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const std::string_view numbers = name.substr(mark + 4);
  if (numbers.empty() || !std::ranges::all_of(numbers, isNumber)) return std::nullopt;
  return name.substr(0, mark);
}

/// Returns whether a part of a layer's name belongs to something that TensorRT inserted for another layer.
bool isInsertedPart(std::string_view part) {
  constexpr std::array<std::string_view, 9> kStarts{
      "reshape_before_",  "reshape_after_",  "squeeze_before_",        "squeeze_after_",       "unsqueeze_before_",
      "unsqueeze_after_", "copied_squeeze_", "unsqueeze_node_before_", "unsqueeze_node_after_"};
  return std::ranges::any_of(kStarts, [&](std::string_view start) { return part.starts_with(start); }) ||
         part.ends_with(" copy") || part.starts_with("[trainStation");
}

bool isConversionByName(std::string_view name) {
  return name.starts_with("Reformatting CopyNode for ") || name.starts_with("Forced Cast ");
}

class NameReader {
 public:
  NameReader(std::string_view name, const KnownNames& known) : m_rest(withoutProfile(name)), m_known(known) {}

  LayerName run() {
    if (isConversionByName(m_rest)) {
      m_made.isInserted = true;
      return std::move(m_made);
    }
    while (!m_rest.empty()) {
      if (skipMark()) continue;
      takePart();
    }
    m_made.isInserted = m_parts > 0 && m_inserted == m_parts;
    return std::move(m_made);
  }

 private:
  /// The names for all optimisation profiles but the first end with " [profile 1]".
  static std::string_view withoutProfile(std::string_view name) {
    const std::size_t at = name.rfind(" [profile ");
    return at != std::string_view::npos && name.ends_with(']') ? name.substr(0, at) : name;
  }

  bool skipMark() {
    for (const std::string_view mark : {" + ", " || ", ", "})
      if (m_rest.starts_with(mark)) return m_rest.remove_prefix(mark.size()), true;
    if (m_rest.starts_with("PWN(") && !m_known.exact(m_rest)) return ++m_open, m_rest.remove_prefix(4), true;
    if (m_open > 0 && m_rest.starts_with(")")) return --m_open, m_rest.remove_prefix(1), true;
    return false;
  }

  bool isMark(std::size_t at) const {
    const std::string_view rest = m_rest.substr(at);
    return rest.starts_with(" + ") || rest.starts_with(" || ") ||
           (m_open > 0 && (rest.starts_with(", ") || rest.starts_with(")")));
  }

  void takePart() {
    ++m_parts;
    std::vector<std::size_t> ends;
    for (std::size_t at = 1; at < m_rest.size() && at <= m_known.longest() && ends.size() < kMostEnds; ++at)
      if (isMark(at)) ends.push_back(at);
    if (m_rest.size() <= m_known.longest()) ends.push_back(m_rest.size());
    for (auto end = ends.rbegin(); end != ends.rend(); ++end)
      if (const auto node = m_known.exact(m_rest.substr(0, *end))) {
        (m_known.mayBeNumbered(m_rest.substr(0, *end)) ? m_made.likely : m_made.nodes).push_back(*node);
        m_rest.remove_prefix(*end);
        return;
      }
    const std::size_t end = endOfPart();
    const std::string_view part = m_rest.substr(0, end);
    m_rest.remove_prefix(end);
    takeUnknown(part);
  }

  /// Separators inside brackets belong to the part.
  std::size_t endOfPart() const {
    int depth = 0;
    for (std::size_t at = 0; at < m_rest.size(); ++at) {
      const char c = m_rest[at];
      if (at > 0 && depth == 0 && isMark(at)) return at;
      if (c == '{' || c == '[' || c == '(') ++depth;
      if ((c == '}' || c == ']' || c == ')') && depth > 0) --depth;
    }
    return m_rest.size();
  }

  void takeUnknown(std::string_view part) {
    if (takeRegion(part) || takeHelper(part) || takeInserted(part) || takeOfRegion(part) || takeOfTorch(part)) return;
    const auto numbered = withoutNumber(part);
    const auto again = numbered ? withoutNumber(*numbered) : std::nullopt;
    for (const auto& name : {numbered, again})
      if (const auto node = name ? m_known.exact(*name) : std::nullopt) {
        m_made.likely.push_back(*node);
        return;
      }
    m_made.unknown.emplace_back(part);
  }

  bool takeRegion(std::string_view part) {
    constexpr std::string_view kStart = "{ForeignNode[", kBetween = "...", kEnd = "]}";
    if (!part.starts_with(kStart) || !part.ends_with(kEnd)) return false;
    part = part.substr(kStart.size(), part.size() - kStart.size() - kEnd.size());
    const std::size_t between = part.find(kBetween);
    const std::string_view first = part.substr(0, between);
    const std::string_view last = between == std::string_view::npos ? first : part.substr(between + kBetween.size());
    m_made.ends.emplace(first, last);
    return true;
  }

  /// Handles layers of constants, and layers that the parser inserts without a name of the network.
  bool takeHelper(std::string_view part) {
    return part.starts_with("(Unnamed Layer*") || part.starts_with("ONNXTRT_") || m_known.isTensor(part);
  }

  bool takeInserted(std::string_view part) {
    const bool isInserted = isInsertedPart(part);
    m_inserted += isInserted ? 1 : 0;
    return isInserted;
  }

  /// Handles "node_linear_myl4_0"; "__myl_MulSum_myl4_1" contains no name of a node.
  bool takeOfRegion(std::string_view part) {
    const auto name = insideOfRegion(part);
    if (!name) return false;
    if (name->starts_with("__my")) return true;
    for (const auto& node : {m_known.exact(*name), m_known.underscored(*name)})
      if (node) {
        (m_known.mayBeNumbered(*name) ? m_made.likely : m_made.nodes).push_back(*node);
        return true;
      }
    const auto numbered = withoutNumber(*name);
    if (const auto node = numbered ? m_known.exact(*numbered) : std::nullopt) m_made.likely.push_back(*node);
    return true;
  }

  /// Handles "[CONVOLUTION]-[aten_ops.convolution.default]-[/features/0/convolution]", or only the path.
  bool takeOfTorch(std::string_view part) {
    std::string_view kind, path = part;
    const std::size_t last = part.rfind("]-[");
    if (part.starts_with('[') && part.ends_with(']') && last != std::string_view::npos) {
      kind = part.substr(1, part.find(']') - 1);
      path = part.substr(last + 3, part.size() - last - 4);
    } else if (!part.starts_with('/')) {
      return false;
    }
    const std::vector<std::string> nodes = m_known.inModule(path, kind);
    if (nodes.empty()) {
      m_made.unknown.emplace_back(part);
      return true;
    }
    auto& into = nodes.size() == 1 ? m_made.nodes : m_made.likely;
    into.insert(into.end(), nodes.begin(), nodes.end());
    return true;
  }

  std::string_view m_rest;
  const KnownNames& m_known;
  LayerName m_made;
  std::size_t m_parts = 0, m_inserted = 0;
  int m_open = 0;  ///< open brackets of PWN
};

}  // namespace

KnownNames::KnownNames(const CompilerInput& network, const EngineLog* log) : m_network(network), m_log(log) {
  for (const onnxlib::FileNode& node : network.file.graph.nodes) m_opOf.emplace(node.displayName(), node.op);
  for (const onnxlib::FileTensor& tensor : network.file.graph.initializers) m_constants.insert(tensor.name);
  for (const auto& [name, nodes] : network.nodes) {
    m_longest = std::max(m_longest, name.size());
    m_underscored[withUnderscores(name)].push_back(name);
    if (const std::string module = moduleOf(name); !module.empty()) m_byModule[module].push_back(name);
  }
  if (log != nullptr)
    for (const auto& [layer, node] : log->nodeOfLayer) m_longest = std::max(m_longest, layer.size());
}

KnownNames::Found KnownNames::exact(std::string_view name) const {
  if (m_log != nullptr)
    if (const auto layer = m_log->nodeOfLayer.find(name);
        layer != m_log->nodeOfLayer.end() && m_network.nodes.contains(layer->second))
      return layer->second;
  const auto node = m_network.nodes.find(name);
  return node == m_network.nodes.end() ? std::nullopt : std::optional(node->first);
}

KnownNames::Found KnownNames::underscored(std::string_view name) const {
  const auto found = m_underscored.find(withUnderscores(name));
  return found == m_underscored.end() || found->second.size() > 1 ? std::nullopt : std::optional(found->second.front());
}

std::vector<std::string> KnownNames::inModule(std::string_view path, std::string_view kind) const {
  const auto found = m_byModule.find(moduleOf(path));
  if (found == m_byModule.end()) return {};
  const std::vector<std::string_view> operators = operatorsOf(kind);
  std::vector<std::string> nodes;
  for (const std::string& node : found->second) {
    const auto op = m_opOf.find(node);
    const bool fits = operators.empty() || op == m_opOf.end() || std::ranges::count(operators, op->second) > 0;
    if (fits) nodes.push_back(node);
  }
  return nodes;
}

bool KnownNames::mayBeNumbered(std::string_view name) const {
  if (m_log != nullptr && m_log->nodeOfLayer.contains(name)) return false;
  const auto without = withoutNumber(name);
  return without && m_network.nodes.contains(*without);
}

bool isInsertedLayer(std::string_view name) {
  return isConversionByName(name) || (isInsertedPart(name) && name.find(" + ") == std::string_view::npos);
}

LayerName readLayerName(std::string_view name, const KnownNames& known) {
  return NameReader(name, known).run();
}

}  // namespace fusescope
