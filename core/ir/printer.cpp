#include <fmt/format.h>

#include <cmath>

#include "ir/graph.h"
#include "ir/text_form.h"
#include "ir/type_text.h"

namespace fusescope {

namespace text_form {

bool isWord(std::string_view text) {
  if (text.empty() || !isWordStart(text[0])) return false;
  for (const char c : text)
    if (!isWordPart(c)) return false;
  return text != "_";
}

bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool isWordPart(char c) {
  return isWordStart(c) || (c >= '0' && c <= '9') || c == '.' || c == '/' || c == '#' || c == '-' || c == '$';
}

std::string quotedText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace text_form

namespace {

using text_form::isWord;
using text_form::quotedText;

std::string nameText(const std::string& name) {
  return isWord(name) ? name : quotedText(name);
}

template <class Float>
std::string floatText(Float value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

std::string attributeFloat(float value) {
  return std::isfinite(value) ? floatText(value) + "f" : floatText(value);
}

std::string elementText(const Tensor& tensor, std::int64_t i) {
  if (tensor.type() == DataType::String) return quotedText(tensor.strings()[static_cast<std::size_t>(i)]);
  if (tensor.type() == DataType::Bool) return tensor.asInt64(i) != 0 ? "true" : "false";
  if (tensor.type() == DataType::F64) return floatText(tensor.asDouble(i));
  if (isFloat(tensor.type())) return floatText(static_cast<float>(tensor.asDouble(i)));
  if (tensor.type() == DataType::U64) return fmt::format("{}", static_cast<std::uint64_t>(tensor.asInt64(i)));
  return fmt::format("{}", tensor.asInt64(i));
}

std::string dataText(const Tensor& tensor) {
  if (!tensor.hasData() || tensor.count() > text_form::kMostInline || !text_form::hasNotation(tensor.type()))
    return "dense";
  std::string text = "[";
  for (std::int64_t i = 0; i < tensor.count(); ++i) text += (i == 0 ? "" : ", ") + elementText(tensor, i);
  return text + ']';
}

template <class T, class Text>
std::string listText(const std::vector<T>& items, const char* kind, Text text) {
  if (items.empty()) return std::string(kind) + "[]";
  std::string out = "[";
  for (std::size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "" : ", ") + text(items[i]);
  return out + ']';
}

class Printer {
 public:
  Printer(const Graph& graph, std::string indent) : m_graph(graph), m_indent(std::move(indent)) {}

  std::string print() const {
    std::string text = "graph " + quotedText(m_graph.name()) + " {\n";
    const std::string inner = m_indent + "  ";
    for (const ValueId id : m_graph.inputs()) text += inner + "input " + definition(id) + '\n';
    for (const ValueId id : m_graph.allValues())
      if (m_graph.isConstant(id))
        text += inner + "const " + definition(id) + " = " + dataText(*m_graph.value(id).constant) + '\n';
    for (const NodeId id : m_graph.order()) text += inner + nodeText(m_graph.node(id)) + '\n';
    for (const ValueId id : m_graph.outputs()) text += inner + "output " + use(id) + '\n';
    return text + m_indent + "}";
  }

 private:
  std::string use(ValueId id) const { return id.valid() ? '%' + nameText(m_graph.value(id).name) : "_"; }
  std::string definition(ValueId id) const {
    return id.valid() ? use(id) + ": " + typeText(m_graph.value(id).type) : "_";
  }

  std::string nodeText(const Node& node) const {
    std::string text;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) text += (i == 0 ? "" : ", ") + definition(node.outputs[i]);
    if (!node.outputs.empty()) text += " = ";
    if (!node.domain.empty()) text += nameText(node.domain) + "::";
    const bool readsAsLine = node.outputs.empty() && (node.op == "input" || node.op == "const" || node.op == "output");
    text += (readsAsLine ? quotedText(node.op) : nameText(node.op)) + '(';
    for (std::size_t i = 0; i < node.inputs.size(); ++i) text += (i == 0 ? "" : ", ") + use(node.inputs[i]);
    text += ')';
    if (!node.attributes.empty()) {
      text += " <";
      for (const auto& [key, attribute] : node.attributes) {
        if (text.back() != '<') text += ", ";
        text += nameText(key) + '=' + attributeText(attribute);
      }
      text += '>';
    }
    text += " {name=" + quotedText(node.name);
    if (!node.origins.empty())
      text += ", origins=" + listText(node.origins, "", [](OriginId id) { return std::to_string(id.index); });
    return text + '}';
  }

  std::string attributeText(const Attribute& attribute) const {
    if (const auto* i = std::get_if<std::int64_t>(&attribute)) return std::to_string(*i);
    if (const auto* f = std::get_if<float>(&attribute)) return attributeFloat(*f);
    if (const auto* text = std::get_if<std::string>(&attribute)) return quotedText(*text);
    if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute))
      return listText(*ints, "ints", [](std::int64_t i) { return std::to_string(i); });
    if (const auto* floats = std::get_if<std::vector<float>>(&attribute))
      return listText(*floats, "floats", attributeFloat);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute))
      return listText(*texts, "strings", [](const std::string& text) { return quotedText(text); });
    if (const auto* tensor = std::get_if<Tensor>(&attribute))
      return "tensor " + typeText({tensor->type(), Shape::of(tensor->dims())}) + " = " + dataText(*tensor);
    const auto& body = std::get<Subgraph>(attribute);
    std::string captures;
    for (const ValueId id : body.captures) captures += (captures.empty() ? "" : ", ") + use(id);
    return (captures.empty() ? "body " : "body (" + captures + ") ") + Printer(*body.graph, m_indent + "    ").print();
  }

  const Graph& m_graph;
  std::string m_indent;
};

}  // namespace

std::string printGraph(const Graph& graph) {
  return Printer(graph, "").print() + '\n';
}

}  // namespace fusescope
