#include "frontends/tensorrt/layer_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"

namespace fusescope {
namespace {

constexpr std::string_view kLayerStart = "Name: ";
constexpr std::string_view kLayerMark = ", LayerType: ";
constexpr std::string_view kMetadata = ", Metadata: ";
/// The separators between items of metadata: of TensorRT's own layers, and of its compiler for regions.
constexpr std::string_view kSeparators = "\x1e\x1f";

/// A text that is read from its beginning.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : m_rest(text) {}

  bool isAt(std::string_view words) const { return m_rest.starts_with(words); }
  bool skip(std::string_view words) {
    if (!isAt(words)) return false;
    m_rest.remove_prefix(words.size());
    return true;
  }
  /// Reads up to the first of `words`, which is not consumed, or returns nothing if none of them occurs.
  std::optional<std::string_view> until(std::initializer_list<std::string_view> words) {
    std::size_t end = std::string_view::npos;
    for (const std::string_view each : words) end = std::min(end, m_rest.find(each));
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view before = m_rest.substr(0, end);
    m_rest.remove_prefix(end);
    return before;
  }
  std::string_view rest() const { return m_rest; }

 private:
  std::string_view m_rest;
};

/// Reads "[64,1]", or returns nothing if the text has another form.
std::optional<std::vector<std::int64_t>> numbers(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  std::vector<std::int64_t> all;
  for (std::string_view rest = text.substr(1, text.size() - 2); !rest.empty() || !all.empty();) {
    std::int64_t number = 0;
    const auto [behind, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc()) return std::nullopt;
    all.push_back(number);
    rest.remove_prefix(static_cast<std::size_t>(behind - rest.data()));
    if (rest.empty()) break;
    if (rest.front() != ',') return std::nullopt;
    rest.remove_prefix(1);
  }
  return all;
}

class LayerParser {
 public:
  explicit LayerParser(std::string_view line) : m_at(line) {}

  /// Returns nothing if the line is not a layer; problem() says where reading stopped.
  std::optional<ListedLayer> run() {
    ListedLayer layer;
    if (!m_at.skip(kLayerStart) || !takeName(layer.name) || !m_at.skip(kLayerMark) || !takeUntil(layer.type, {", "}))
      return std::nullopt;
    for (const auto& [list, name] :
         {std::pair{&layer.inputs, ", Inputs: "}, {&layer.constants, ", Constants: "}, {&layer.outputs, ", Outputs: "}})
      if (m_at.skip(name) && !takeTensors(*list)) return std::nullopt;
    const std::string_view tail = m_at.until({kMetadata}).value_or(m_at.rest());  // versions before 8.6 have none
    const bool hasKeys = tail.starts_with(", ") && tail.find(": ") != std::string_view::npos;
    if (tail.empty() ? !m_at.isAt(kMetadata) : !hasKeys) return std::nullopt;
    layer.tactic = valueIn(tail, ", TacticName: ");
    layer.parameter = valueIn(tail, ", ParameterType: ");
    layer.origin = valueIn(tail, ", Origin: ");
    layer.weights = valueIn(tail, ", Weights: {\"Type\": \"");
    if (const std::size_t end = layer.weights.find('"'); end != std::string::npos) layer.weights.resize(end);
    const std::string stream = valueIn(tail, ", StreamId: ");
    if (std::int64_t number = 0;
        std::from_chars(stream.data(), stream.data() + stream.size(), number).ec == std::errc())
      layer.stream = number;
    if (m_at.skip(kMetadata)) layer.metadata = m_at.rest();
    return layer;
  }

  std::string problem() const { return std::string(m_at.rest().substr(0, 60)); }

 private:
  bool takeUntil(std::string& text, std::initializer_list<std::string_view> words) {
    const auto before = m_at.until(words);
    if (before) text = *before;
    return before.has_value();
  }

  /// Reads up to the last mark before the inputs, because a name may contain a mark too.
  bool takeName(std::string& name) {
    const std::string_view rest = m_at.rest();
    const std::size_t end = rest.rfind(kLayerMark, rest.find(", Inputs: ["));
    if (end == std::string_view::npos) return false;
    name = rest.substr(0, end);
    return m_at.skip(name);
  }

  /// Reads "[ { … }, { … }]" or "[]".
  bool takeTensors(std::vector<ListedTensor>& tensors) {
    if (!m_at.skip("[")) return false;
    while (m_at.skip(" { ")) {
      if (!takeTensor(tensors.emplace_back())) return false;
      m_at.skip(",");
    }
    return m_at.skip("]");
  }

  bool takeTensor(ListedTensor& tensor) {
    if (!m_at.skip(kLayerStart) || !takeUntil(tensor.name, {", Location: ", ", Dimensions: "})) return false;
    while (m_at.skip(", ")) {
      std::string key, value;
      if (!takeUntil(key, {": "}) || !m_at.skip(": ")) return false;
      if (m_at.isAt("[")) {
        if (!takeUntil(value, {"]"}) || !m_at.skip("]")) return false;
        value += ']';
      } else if (!takeUntil(value, key.starts_with("Format") ? std::initializer_list<std::string_view>{" }"}
                                                             : std::initializer_list<std::string_view>{", ", " }"})) {
        return false;
      }
      if (!take(tensor, key, value)) return false;
    }
    return m_at.skip(" }");
  }

  static bool take(ListedTensor& tensor, std::string_view key, const std::string& value) {
    const auto takeNumbers = [&](std::vector<std::int64_t>& into) {
      auto all = numbers(value);
      if (all) into = std::move(*all);
      return all.has_value();
    };
    if (key == "Dimensions") return takeNumbers(tensor.dims);
    if (key == "Strides") return takeNumbers(tensor.strides);
    if (key == "StrideOrder") return takeNumbers(tensor.strideOrder);
    if (key == "Location") tensor.location = value;
    if (key == "Datatype" || key == "DataType") tensor.type = value;
    if (key == "Format") tensor.format = value;
    if (key == "Format/Datatype") tensor.type = tensor.format = value;  // one text, as before version 11
    return true;
  }

  static std::string valueIn(std::string_view tail, std::string_view key) {
    const std::size_t start = tail.find(key);
    if (start == std::string_view::npos) return {};
    const std::string_view value = tail.substr(start + key.size());
    return std::string(value.substr(0, value.find(", ")));
  }

  Cursor m_at;
};

/// Returns whether a text that begins like a layer includes its type already; a name may contain line ends.
bool hasType(std::string_view layer) {
  return layer.find(kLayerMark) != std::string_view::npos;
}

bool endsList(std::string_view line) {
  return line.starts_with("I/O Tensors:") || line.starts_with("Bindings:");
}

}  // namespace

Result<std::vector<ListedLayer>> parseLayerList(std::string_view text) {
  struct Entry {
    std::size_t line = 0;
    std::string text;  ///< of several lines where a name has line ends
  };
  std::vector<Entry> entries;
  std::size_t line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view words = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    if (endsList(words)) break;
    if (words.starts_with(kLayerStart) && (entries.empty() || hasType(entries.back().text)))
      entries.push_back({line, std::string(words)});
    else if (!entries.empty() && !words.empty())
      entries.back().text.append("\n").append(words);
  }
  std::vector<ListedLayer> layers;
  for (const Entry& entry : entries) {
    LayerParser parser(entry.text);
    auto layer = parser.run();
    if (!layer)
      return Diagnostic{
          .message = fmt::format("The list of layers cannot be read: line {}, at '{}'.", entry.line, parser.problem())};
    layers.push_back(std::move(*layer));
  }
  return layers;
}

std::vector<std::string> namesInMetadata(std::string_view metadata) {
  constexpr std::string_view kStart = "[ONNX Layer: ", kJoint = "][ONNX Layer: ";
  const bool isParted = metadata.find_first_of(kSeparators) != std::string_view::npos;
  std::vector<std::string> names;
  while (!metadata.empty()) {
    std::size_t end = std::min(metadata.find_first_of(kSeparators), metadata.size());
    std::size_t next = std::min(end + 1, metadata.size());
    // If a log lost the separators, items follow each other directly.
    if (const std::size_t joint = metadata.find(kJoint); !isParted && joint != std::string_view::npos)
      end = next = joint + 1;
    std::string_view item = metadata.substr(0, end);
    metadata.remove_prefix(next);
    if (!item.starts_with(kStart) || !item.ends_with(']')) continue;
    item.remove_prefix(kStart.size());
    item.remove_suffix(1);
    names.emplace_back(item);
  }
  return names;
}

namespace {

constexpr std::pair<std::string_view, DataType> kTypes[] = {
    {"Float", DataType::F32},     {"FP32", DataType::F32},   {"Half", DataType::F16},    {"FP16", DataType::F16},
    {"BFloat16", DataType::BF16}, {"Bf16", DataType::BF16},  {"BF16", DataType::BF16},   {"Double", DataType::F64},
    {"Int64", DataType::I64},     {"INT64", DataType::I64},  {"Int32", DataType::I32},   {"INT32", DataType::I32},
    {"Int8", DataType::I8},       {"INT8", DataType::I8},    {"Int4", DataType::I4},     {"INT4", DataType::I4},
    {"UInt8", DataType::U8},      {"UINT8", DataType::U8},   {"Bool", DataType::Bool},   {"BOOL", DataType::Bool},
    {"FP8", DataType::F8E4M3},    {"Fp8", DataType::F8E4M3}, {"E8M0", DataType::F8E8M0}, {"FP4", DataType::F4E2M1},
    {"Fp4", DataType::F4E2M1}};

struct TypeWord {
  DataType type = DataType::Undefined;
  std::size_t at = 0, length = 0;
};

/// Returns the first word of `text` that is a type.
TypeWord typeWord(std::string_view text) {
  const auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!isWord(text[at])) continue;
    std::size_t end = at;
    while (end < text.size() && isWord(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const auto* found = std::ranges::find(kTypes, word, &std::pair<std::string_view, DataType>::first);
    if (found != std::end(kTypes)) return {found->second, at, word.size()};
    at = end;
  }
  return {};
}

}  // namespace

DataType listedType(std::string_view type) {
  return typeWord(type).type;
}

std::string layoutIn(std::string_view format) {
  constexpr std::string_view kFormat = "format", kWhere = " where ";
  std::string layout(format);
  if (const TypeWord word = typeWord(layout); word.length > 0) layout.erase(word.at, word.length);
  if (const std::size_t at = layout.find(kFormat); at != std::string::npos) layout.erase(at, kFormat.size());
  std::string condition;
  if (const std::size_t at = layout.find(kWhere); at != std::string::npos) {
    condition = ", " + layout.substr(at + kWhere.size());
    layout.erase(at);
  }
  while (!layout.empty() && layout.back() == ' ') layout.pop_back();
  return layout.empty() ? layout : layout + condition;
}

namespace {

/// Adds the parts between marks outside brackets. The contents of PWN(…) are parts too, at any depth that TensorRT
/// writes.
void addParts(std::string_view name, std::vector<std::string>& parts, int inside = 0) {
  constexpr std::string_view kPointwise = "PWN(";
  constexpr int kDeepest = 64;
  int depth = 0;
  std::size_t start = 0;
  const auto take = [&](std::size_t end) {
    const std::string_view part = name.substr(start, end - start);
    if (part.starts_with(kPointwise) && part.ends_with(')') && inside < kDeepest)
      addParts(part.substr(kPointwise.size(), part.size() - kPointwise.size() - 1), parts, inside + 1);
    else if (!part.empty())
      parts.emplace_back(part);
  };
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '{' || name[at] == '[' || name[at] == '(') ++depth;
    if ((name[at] == '}' || name[at] == ']' || name[at] == ')') && depth > 0) --depth;
    if (depth > 0) continue;
    for (const std::string_view mark : {" + ", " || ", ", "})
      if (name.substr(at).starts_with(mark)) {
        take(at);
        start = at + mark.size();
        at = start - 1;
        break;
      }
  }
  take(name.size());
}

bool isMadeUp(std::string_view part) {
  return part.starts_with("(Unnamed Layer*") || part.starts_with("ONNXTRT_") || part.starts_with("{ForeignNode[") ||
         part.starts_with("__my") || part.find("_myl") != std::string_view::npos;
}

}  // namespace

std::vector<std::string> nodesSaidBy(const ListedLayer& layer) {
  std::vector<std::string> names = namesInMetadata(layer.metadata);
  if (!names.empty()) return names;
  addParts(layer.name, names);
  std::erase_if(names, isMadeUp);
  return names;
}

}  // namespace fusescope
