#include "onnxlib/text_check.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "base/utf8.h"

namespace fusescope::onnxlib {
namespace {

std::string readable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = utf8At(text, at);
    const std::size_t length = character ? character->length : 1;
    if (character)
      result += text.substr(at, length);
    else
      result += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[at]));
    at += length;
  }
  return result;
}

/// Visits the names of a model and remembers the first that is not UTF-8.
class NameCheck {
 public:
  void graph(const onnx::GraphProto& proto) {
    name(proto.name());
    for (const auto* values : {&proto.input(), &proto.output(), &proto.value_info()})
      for (const auto& item : *values) value(item);
    for (const auto& item : proto.initializer()) name(item.name());
    for (const auto& item : proto.node()) node(item);
  }

  void function(const onnx::FunctionProto& proto) {
    for (const auto* texts : {&proto.name(), &proto.domain(), &proto.overload()}) name(*texts);
    for (const auto* texts : {&proto.input(), &proto.output(), &proto.attribute()})
      for (const auto& text : *texts) name(text);
    for (const auto& item : proto.attribute_proto()) attribute(item);
    for (const auto& item : proto.node()) node(item);
    opsets(proto.opset_import());
  }

  void opsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
    for (const auto& item : imports) name(item.domain());
  }

  void name(const std::string& text) {
    if (m_bad.empty() && !isUtf8(text)) m_bad = text;
  }

  const std::string& bad() const { return m_bad; }

 private:
  void value(const onnx::ValueInfoProto& proto) {
    name(proto.name());
    type(proto.type());
  }

  void type(const onnx::TypeProto& proto) {
    if (proto.has_sequence_type()) type(proto.sequence_type().elem_type());
    if (proto.has_optional_type()) type(proto.optional_type().elem_type());
    for (const auto& dim : proto.tensor_type().shape().dim()) name(dim.dim_param());
  }

  void node(const onnx::NodeProto& proto) {
    for (const auto* texts : {&proto.name(), &proto.op_type(), &proto.domain(), &proto.overload()}) name(*texts);
    for (const auto* texts : {&proto.input(), &proto.output()})
      for (const auto& text : *texts) name(text);
    for (const auto& item : proto.attribute()) attribute(item);
  }

  void attribute(const onnx::AttributeProto& proto) {
    name(proto.name());
    name(proto.ref_attr_name());
    if (proto.has_t()) name(proto.t().name());
    if (proto.has_g()) graph(proto.g());
  }

  std::string m_bad;
};

}  // namespace

/// Returns whether the eight bytes at `text` are all ASCII, as nearly all are. Metadata may contain a megabyte of them.
static bool isAscii(const char* text) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text, sizeof bytes);
  return (bytes & 0x8080808080808080) == 0;
}

bool isUtf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text.size() - at >= sizeof(std::uint64_t) && isAscii(text.data() + at)) {
      at += sizeof(std::uint64_t);
      continue;
    }
    const auto character = utf8At(text, at);
    if (!character) return false;
    at += character->length;
  }
  return true;
}

Status checkNames(const onnx::ModelProto& model) {
  NameCheck check;
  check.name(model.producer_name());
  check.name(model.producer_version());
  check.opsets(model.opset_import());
  for (const auto& entry : model.metadata_props()) {
    check.name(entry.key());
    check.name(entry.value());
  }
  check.graph(model.graph());
  for (const auto& function : model.functions()) check.function(function);
  if (check.bad().empty()) return Done{};
  return Diagnostic{
      .message = "contains a name that is not UTF-8 text: '" + readable(check.bad()) + "'",
      .help =
          "The file is damaged, or its exporter wrote the name in another encoding. In the latter case, rename it."};
}

}  // namespace fusescope::onnxlib
