#include <charconv>
#include <map>
#include <optional>

#include "ir/graph.h"
#include "ir/text_form.h"
#include "ir/text_scanner.h"
#include "ir/type_text.h"

namespace fusescope {
namespace {

using text_form::Scanner;

constexpr int kMostDepth = 32;  // nesting of bodies

template <class T>
std::optional<T> numberFrom(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::int64_t> parseInteger(Scanner& in) {
  const std::string text = TRY(in.number());
  const auto value = numberFrom<std::int64_t>(text);
  if (!value) return in.error("'" + text + "' is not an integer");
  return *value;
}

/// Returns the type in which elements of `type` are read before they are converted to `type`.
DataType notationType(DataType type) {
  if (isFloat(type)) return DataType::F64;
  return type == DataType::U64 || type == DataType::Bool ? type : DataType::I64;
}

template <class T>
bool storeNumber(const std::string& text, Tensor& tensor, std::int64_t i) {
  const auto value = numberFrom<T>(text);
  if (value) tensor.mutableData<T>()[static_cast<std::size_t>(i)] = *value;
  return value.has_value();
}

/// Reads one element of a constant of `type` into `wide`, which has the type notationType(type) and owns its memory.
Status parseElement(Scanner& in, DataType type, Tensor& wide, std::int64_t i) {
  const std::string text = TRY(in.number());
  bool stored = false;
  if (wide.type() == DataType::Bool) {
    const std::string_view word = text;
    stored = word == "true" || word == "false";
    wide.mutableData<std::uint8_t>()[static_cast<std::size_t>(i)] = word == "true" ? 1 : 0;
  } else if (wide.type() == DataType::F64) {
    stored = storeNumber<double>(text, wide, i);
  } else if (wide.type() == DataType::U64) {
    stored = storeNumber<std::uint64_t>(text, wide, i);
  } else {
    stored = storeNumber<std::int64_t>(text, wide, i);
  }
  if (!stored) return in.error("'" + text + "' is not a value of type " + std::string(name(type)));
  return Done{};
}

Result<Tensor> parseData(Scanner& in, const TensorType& type) {
  if (type.container != Container::None) return in.error("a constant must be a tensor, not a container");
  const auto dims = type.shape.fixed();
  const auto count = dims ? elementCount(*dims) : std::nullopt;
  if (!count) return in.error("the extents of a constant must be known");
  if (in.acceptWord("dense")) return Tensor::withoutData(type.dtype, *dims);
  if (*count > text_form::kMostInline)
    return in.error("a constant of more than 64 elements must be written as 'dense'");
  if (!text_form::hasNotation(type.dtype)) return in.error("a constant of this type must be written as 'dense'");
  TRY(in.expect("["));
  std::vector<std::string> strings;
  Tensor wide = Tensor::zeros(type.dtype == DataType::String ? DataType::U8 : notationType(type.dtype), *dims);
  for (std::int64_t i = 0; i < *count; ++i) {
    if (i > 0) TRY(in.expect(","));
    if (type.dtype == DataType::String)
      strings.push_back(TRY(in.string()));
    else
      TRY(parseElement(in, type.dtype, wide, i));
  }
  TRY(in.expect("]"));
  if (type.dtype == DataType::String) return Tensor::ofStrings(*dims, std::move(strings));
  return wide.converted(type.dtype);
}

Result<Attribute> parseScalar(Scanner& in) {
  if (in.peekString()) return Attribute(TRY(in.string()));
  std::string text = TRY(in.number());
  if (const auto integer = numberFrom<std::int64_t>(text)) return Attribute(*integer);
  if (text.ends_with('f') && text != "inf" && text != "-inf") text.pop_back();
  if (const auto number = numberFrom<float>(text)) return Attribute(*number);
  return in.error("'" + text + "' is neither a number nor a string");
}

template <class T>
Result<Attribute> listOf(Scanner& in, Attribute first) {
  std::vector<T> items{std::get<T>(std::move(first))};
  while (in.accept(",")) {
    Attribute next = TRY(parseScalar(in));
    if (!std::holds_alternative<T>(next)) return in.error("the items of a list must have the same type");
    items.push_back(std::get<T>(std::move(next)));
  }
  TRY(in.expect("]"));
  return Attribute(std::move(items));
}

Result<Attribute> parseList(Scanner& in) {
  Attribute first = TRY(parseScalar(in));
  if (std::holds_alternative<std::int64_t>(first)) return listOf<std::int64_t>(in, std::move(first));
  if (std::holds_alternative<float>(first)) return listOf<float>(in, std::move(first));
  return listOf<std::string>(in, std::move(first));
}

class ModelTextParser {
 public:
  ModelTextParser(Scanner& in, int depth) : m_in(in), m_depth(depth) {}

  Result<std::shared_ptr<const Graph>> graph() {
    if (m_depth > kMostDepth) return m_in.error("bodies are nested too deeply");
    if (!m_in.acceptWord("graph")) return m_in.error("expected 'graph'");
    m_editor.setName(TRY(m_in.string()));
    TRY(m_in.expect("{"));
    while (!m_in.accept("}")) TRY(line());
    return m_editor.publish();
  }

 private:
  Status line() {
    if (m_in.acceptWord("input")) {
      const auto [name, type] = TRY(definition());
      return define(name, m_editor.addInput(name, type));
    }
    if (m_in.acceptWord("const")) {
      const auto [name, type] = TRY(definition());
      TRY(m_in.expect("="));
      return define(name, m_editor.addConstant(name, TRY(parseData(m_in, type))));
    }
    if (m_in.acceptWord("output")) {
      m_editor.addOutput(TRY(use()));
      return Done{};
    }
    return node();
  }

  Result<std::pair<std::string, TensorType>> definition() {
    TRY(m_in.expect("%"));
    std::string name = TRY(m_in.name());
    TRY(m_in.expect(":"));
    return std::pair(std::move(name), TRY(parseType(m_in)));
  }

  Status define(const std::string& name, ValueId id) {
    if (m_values.emplace(name, id).second) return Done{};
    return m_in.error("%" + name + " is defined twice");
  }

  Result<ValueId> use() {
    if (m_in.acceptWord("_")) return ValueId();
    TRY(m_in.expect("%"));
    const std::string name = TRY(m_in.name());
    const auto found = m_values.find(name);
    if (found == m_values.end()) return m_in.error("%" + name + " is not defined above");
    return found->second;
  }

  Status node() {
    Node node;
    std::vector<std::pair<std::string, TensorType>> results;
    if (m_in.peek("%") || m_in.peekWord("_")) {
      do {
        if (m_in.acceptWord("_"))
          results.emplace_back();
        else
          results.push_back(TRY(definition()));
      } while (m_in.accept(","));
      TRY(m_in.expect("="));
    }
    node.op = TRY(m_in.name());
    if (m_in.accept("::")) {
      node.domain = std::move(node.op);
      node.op = TRY(m_in.name());
    }
    TRY(m_in.expect("("));
    while (!m_in.accept(")")) {
      if (!node.inputs.empty()) TRY(m_in.expect(","));
      node.inputs.push_back(TRY(use()));
    }
    if (m_in.accept("<")) TRY(attributes(node));
    TRY(details(node));
    for (const auto& [name, type] : results) {
      node.outputs.push_back(name.empty() ? ValueId() : m_editor.addValue(name, type));
      if (!name.empty()) TRY(define(name, node.outputs.back()));
    }
    const std::string wanted = node.name;
    const NodeId id = m_editor.addNode(std::move(node));
    if (m_editor.current().node(id).name != wanted)
      return m_in.error("a node with the name '" + wanted + "' is already defined");
    return Done{};
  }

  Status details(Node& node) {
    TRY(m_in.expect("{"));
    if (!m_in.acceptWord("name")) return m_in.error("expected 'name'");
    TRY(m_in.expect("="));
    node.name = TRY(m_in.string());
    if (m_in.accept(",")) {
      if (!m_in.acceptWord("origins")) return m_in.error("expected 'origins'");
      TRY(m_in.expect("="));
      TRY(m_in.expect("["));
      do node.origins.emplace_back(static_cast<std::size_t>(TRY(parseInteger(m_in))));
      while (m_in.accept(","));
      TRY(m_in.expect("]"));
    }
    return m_in.expect("}");
  }

  Status attributes(Node& node) {
    do {
      std::string key = TRY(m_in.name());
      TRY(m_in.expect("="));
      node.attributes.insert_or_assign(std::move(key), TRY(attribute()));
    } while (m_in.accept(","));
    return m_in.expect(">");
  }

  Result<Attribute> attribute() {
    if (m_in.accept("[")) return parseList(m_in);
    if (m_in.acceptWord("ints")) return emptyList<std::int64_t>();
    if (m_in.acceptWord("floats")) return emptyList<float>();
    if (m_in.acceptWord("strings")) return emptyList<std::string>();
    if (m_in.acceptWord("body")) return body();
    if (m_in.acceptWord("tensor")) {
      const TensorType type = TRY(parseType(m_in));
      TRY(m_in.expect("="));
      return Attribute(TRY(parseData(m_in, type)));
    }
    return parseScalar(m_in);
  }

  template <class T>
  Result<Attribute> emptyList() {
    TRY(m_in.expect("[]"));
    return Attribute(std::vector<T>());
  }

  Result<Attribute> body() {
    Subgraph body;
    if (m_in.accept("(")) {
      do body.captures.push_back(TRY(use()));
      while (m_in.accept(","));
      TRY(m_in.expect(")"));
    }
    body.graph = TRY(ModelTextParser(m_in, m_depth + 1).graph());
    return Attribute(std::move(body));
  }

  Scanner& m_in;
  int m_depth;
  GraphEditor m_editor;
  std::map<std::string, ValueId, std::less<>> m_values;
};

}  // namespace

Result<std::shared_ptr<const Graph>> parseGraph(std::string_view text) {
  Scanner in(text);
  auto graph = TRY(ModelTextParser(in, 0).graph());
  if (!in.atEnd()) return in.error("there is text after the graph");
  return graph;
}

}  // namespace fusescope
