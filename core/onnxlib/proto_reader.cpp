#include "onnxlib/proto_reader.h"

#include <onnx/checker.h>
#include <onnx/defs/schema.h>

#include "onnxlib/exporter_notes.h"

namespace fusescope::onnxlib {
namespace {

/// Returns the first line of the library's message; the rest is its own call context.
std::string firstLine(const std::string& text) {
  const std::size_t start = text.find_first_not_of(" \n[");
  if (start == std::string::npos) return "is not valid";
  return text.substr(start, text.find('\n', start) - start);
}

/// Checks slots and attributes against the operator's schema. Operators that the library does not know are accepted.
Status checkSchema(const onnx::NodeProto& proto, const Opsets& opsets) {
  const auto imported = opsets.find(canonicalDomain(proto.domain()));
  if (imported == opsets.end()) return Done{};
  try {
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(proto.op_type(), static_cast<int>(imported->second),
                                                                  canonicalDomain(proto.domain()));
    // Files may contain deprecated versions (GroupNormalization 18); Verify() would refuse them only for that.
    if (schema != nullptr && !schema->deprecated()) schema->Verify(proto);
  } catch (const std::exception& error) {
    return Diagnostic{.message = firstLine(error.what())};
  }
  return Done{};
}

template <class T>
T elementsOf(const auto& field) {
  return T(field.begin(), field.end());
}

}  // namespace

std::string canonicalDomain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

Opsets opsetsOf(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const auto& import : imports) opsets[canonicalDomain(import.domain())] = import.version();
  return opsets;
}

/// Returns whether this is what exporters write if they have no name for an extent; two such extents need not be equal.
bool isNoName(const std::string& text) {
  return text == "?" || text == "-1" || text == "None";
}

/// Reads a tensor type or a container of tensors. Everything else (maps, sparse tensors, deeper containers) has an
/// unknown type.
FileType typeOf(const onnx::TypeProto& proto) {
  FileType type;
  if (proto.has_sequence_type() || proto.has_optional_type()) {
    const bool sequence = proto.has_sequence_type();
    type = typeOf(sequence ? proto.sequence_type().elem_type() : proto.optional_type().elem_type());
    if (type.container == Container::None) {
      type.container = sequence ? Container::Sequence : Container::Optional;
    } else if (type.container == Container::Sequence && !sequence) {
      type.container = Container::OptionalSequence;
    } else {
      return {};
    }
    return type;
  }
  if (!proto.has_tensor_type()) return type;
  type.dtype = dataTypeOf(proto.tensor_type().elem_type());
  type.ranked = proto.tensor_type().has_shape();
  for (const auto& dim : proto.tensor_type().shape().dim()) {
    FileDim& extent = type.dims.emplace_back();
    if (dim.has_dim_value() && dim.dim_value() >= 0) extent.size = dim.dim_value();
    if (dim.has_dim_param() && !isNoName(dim.dim_param())) extent.symbol = dim.dim_param();
  }
  return type;
}

Result<FileAttribute> ProtoReader::attribute(const onnx::AttributeProto& proto, const Opsets& opsets, int depth) {
  using P = onnx::AttributeProto;
  FileAttribute attribute{.name = proto.name(), .reference = proto.ref_attr_name(), .value = {}};
  if (!attribute.reference.empty()) return attribute;
  switch (proto.type()) {
    case P::INT:
      attribute.value = static_cast<std::int64_t>(proto.i());
      break;
    case P::FLOAT:
      attribute.value = proto.f();
      break;
    case P::STRING:
      attribute.value = proto.s();
      break;
    case P::INTS:
      attribute.value = elementsOf<std::vector<std::int64_t>>(proto.ints());
      break;
    case P::FLOATS:
      attribute.value = elementsOf<std::vector<float>>(proto.floats());
      break;
    case P::STRINGS:
      attribute.value = elementsOf<std::vector<std::string>>(proto.strings());
      break;
    case P::TENSOR:
      attribute.value = TRY(m_tensors.read(proto.t()));
      break;
    case P::SPARSE_TENSOR:
      attribute.value = TRY(m_tensors.readSparse(proto.sparse_tensor()));
      break;
    case P::TYPE_PROTO:
      if (FileType type = typeOf(proto.tp()); type.dtype != DataType::Undefined) attribute.value = std::move(type);
      break;
    case P::GRAPH:
      attribute.value = std::make_shared<const FileGraph>(TRY(graph(proto.g(), opsets, depth + 1)));
      break;
    default:
      break;
  }
  return attribute;
}

Result<FileNode> ProtoReader::node(const onnx::NodeProto& proto, const Opsets& opsets, int depth) {
  FileNode node;
  node.name = proto.name();
  node.op = proto.op_type();
  node.domain = canonicalDomain(proto.domain());
  node.overload = proto.overload();
  node.inputs = elementsOf<std::vector<std::string>>(proto.input());
  node.outputs = elementsOf<std::vector<std::string>>(proto.output());
  node.module = moduleOf(proto);
  node.source = traceOf(proto);
  node.programNode = programNodeOf(proto);
  if (m_limits.takesDocumentation) node.documentation = proto.doc_string();
  const auto located = [&](Diagnostic error) {
    if (error.where.node.empty()) error.where.node = node.displayName();
    return error;
  };
  if (++m_nodes > m_limits.nodes)
    return located({.message = "the model has more than " + std::to_string(m_limits.nodes) + " nodes"});
  if (node.op.empty()) return located({.message = "has no operator type"});
  if (const Status checked = checkSchema(proto, opsets); !checked.ok()) return located(checked.error());
  node.attributes.reserve(static_cast<std::size_t>(proto.attribute_size()));
  for (const auto& item : proto.attribute()) {
    auto read = attribute(item, opsets, depth);
    if (!read.ok()) {
      Diagnostic error = read.error();
      if (error.where.node.empty()) error.where.attribute = item.name();
      return located(std::move(error));
    }
    node.attributes.push_back(std::move(read).value());
  }
  return node;
}

Result<FileGraph> ProtoReader::graph(const onnx::GraphProto& proto, const Opsets& opsets, int depth) {
  if (depth > m_limits.subgraphDepth) return Diagnostic{.message = "its subgraphs are nested too deeply"};
  FileGraph graph;
  graph.name = proto.name();
  for (const auto& item : proto.input()) graph.inputs.push_back({item.name(), typeOf(item.type())});
  for (const auto& item : proto.output()) graph.outputs.push_back({item.name(), typeOf(item.type())});
  for (const auto& item : proto.value_info()) graph.values.push_back({item.name(), typeOf(item.type())});
  graph.initializers.reserve(static_cast<std::size_t>(proto.initializer_size()));
  for (const auto& item : proto.initializer()) graph.initializers.push_back(TRY(m_tensors.read(item)));
  for (const auto& item : proto.sparse_initializer()) graph.initializers.push_back(TRY(m_tensors.readSparse(item)));
  graph.nodes.reserve(static_cast<std::size_t>(proto.node_size()));
  for (const auto& item : proto.node()) graph.nodes.push_back(TRY(node(item, opsets, depth)));
  return graph;
}

Result<FileFunction> ProtoReader::function(const onnx::FunctionProto& proto) {
  FileFunction function;
  function.name = proto.name();
  function.domain = canonicalDomain(proto.domain());
  function.overload = proto.overload();
  function.inputs = elementsOf<std::vector<std::string>>(proto.input());
  function.outputs = elementsOf<std::vector<std::string>>(proto.output());
  function.opsets = opsetsOf(proto.opset_import());
  for (const auto& item : proto.attribute_proto())
    function.defaults.push_back(TRY(attribute(item, function.opsets, 0)));
  for (const auto& item : proto.node()) function.nodes.push_back(TRY(node(item, function.opsets, 0)));
  return function;
}

}  // namespace fusescope::onnxlib
