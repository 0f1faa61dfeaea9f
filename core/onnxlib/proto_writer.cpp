#include "onnxlib/proto_writer.h"

#include "onnxlib/tensor_reader.h"

namespace fusescope::onnxlib {

void setValue(onnx::ValueInfoProto& proto, const FileValue& value) {
  proto.set_name(value.name);
  *proto.mutable_type() = typeProto(value.type);
}

int onnxTypeOf(DataType type) {
  for (int number = 1; number <= onnx::TensorProto::DataType_MAX; ++number)
    if (dataTypeOf(number) == type) return number;
  return onnx::TensorProto::UNDEFINED;
}

void setAttribute(onnx::AttributeProto& proto, const FileAttribute& attribute) {
  using P = onnx::AttributeProto;
  proto.set_name(attribute.name);
  if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) {
    proto.set_type(P::INT);
    proto.set_i(*i);
  } else if (const auto* f = std::get_if<float>(&attribute.value)) {
    proto.set_type(P::FLOAT);
    proto.set_f(*f);
  } else if (const auto* s = std::get_if<std::string>(&attribute.value)) {
    proto.set_type(P::STRING);
    proto.set_s(*s);
  } else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
    proto.set_type(P::INTS);
    proto.mutable_ints()->Add(ints->begin(), ints->end());
  } else if (const auto* floats = std::get_if<std::vector<float>>(&attribute.value)) {
    proto.set_type(P::FLOATS);
    proto.mutable_floats()->Add(floats->begin(), floats->end());
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&attribute.value)) {
    proto.set_type(P::STRINGS);
    for (const std::string& text : *strings) proto.add_strings(text);
  } else if (const auto* tensor = std::get_if<FileTensor>(&attribute.value)) {
    proto.set_type(P::TENSOR);
    *proto.mutable_t() = tensorProto(*tensor);
  } else if (const auto* type = std::get_if<FileType>(&attribute.value)) {
    proto.set_type(P::TYPE_PROTO);
    *proto.mutable_tp() = typeProto(*type);
  } else if (const auto* graph = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value)) {
    proto.set_type(P::GRAPH);
    *proto.mutable_g() = graphProto(**graph);
  }
}

std::int64_t elementTypeNumber(DataType type) {
  return onnxTypeOf(type);
}

onnx::TensorProto tensorProto(const FileTensor& tensor) {
  onnx::TensorProto proto;
  proto.set_name(tensor.name);
  proto.set_data_type(onnxTypeOf(tensor.dtype));
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.dims) {
    proto.add_dims(extent);
    count *= extent;
  }
  for (const std::string& text : tensor.strings) proto.add_string_data(text);
  if (tensor.data != nullptr) proto.set_raw_data(tensor.data, byteSize(tensor.dtype, count));
  return proto;
}

onnx::NodeProto nodeProto(const FileNode& node) {
  onnx::NodeProto proto;
  proto.set_name(node.name);
  proto.set_op_type(node.op);
  proto.set_domain(node.domain);
  for (const std::string& input : node.inputs) proto.add_input(input);
  for (const std::string& output : node.outputs) proto.add_output(output);
  for (const FileAttribute& attribute : node.attributes) setAttribute(*proto.add_attribute(), attribute);
  return proto;
}

onnx::TypeProto typeProto(const FileType& type) {
  onnx::TypeProto proto;
  if (type.dtype == DataType::Undefined) return proto;
  onnx::TypeProto* held = &proto;
  if (type.container == Container::Optional || type.container == Container::OptionalSequence)
    held = held->mutable_optional_type()->mutable_elem_type();
  if (type.container == Container::Sequence || type.container == Container::OptionalSequence)
    held = held->mutable_sequence_type()->mutable_elem_type();
  held->mutable_tensor_type()->set_elem_type(onnxTypeOf(type.dtype));
  if (!type.ranked) return proto;
  auto* shape = held->mutable_tensor_type()->mutable_shape();
  for (const FileDim& dim : type.dims) {
    auto* extent = shape->add_dim();
    if (dim.size >= 0)
      extent->set_dim_value(dim.size);
    else if (!dim.symbol.empty())
      extent->set_dim_param(dim.symbol);
  }
  return proto;
}

onnx::GraphProto graphProto(const FileGraph& graph) {
  onnx::GraphProto proto;
  proto.set_name(graph.name);
  for (const FileNode& node : graph.nodes) *proto.add_node() = nodeProto(node);
  for (const FileTensor& tensor : graph.initializers) *proto.add_initializer() = tensorProto(tensor);
  for (const FileValue& input : graph.inputs) setValue(*proto.add_input(), input);
  for (const FileValue& output : graph.outputs) setValue(*proto.add_output(), output);
  for (const FileValue& value : graph.values) setValue(*proto.add_value_info(), value);
  return proto;
}

Result<std::string> modelBytes(const FileModel& model) {
  onnx::ModelProto proto;
  proto.set_ir_version(model.irVersion);
  proto.set_producer_name(model.producer);
  for (const auto& [domain, version] : model.opsets) {
    auto* opset = proto.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }
  for (const auto& [key, value] : model.metadata) {
    auto* entry = proto.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  *proto.mutable_graph() = graphProto(model.graph);
  std::string bytes;
  if (!proto.SerializeToString(&bytes))
    return Diagnostic{.message = "the network is too large for an ONNX file without external data",
                      .help = "The limit of protobuf is 2 GiB."};
  return bytes;
}

}  // namespace fusescope::onnxlib
