#include <google/protobuf/arena.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <cctype>

#include "base/zip_places.h"
#include "onnxlib/metadata_entry.h"
#include "onnxlib/model_proto.h"
#include "onnxlib/onnxlib.h"
#include "onnxlib/proto_reader.h"
#include "onnxlib/text_check.h"
#include "onnxlib/wire_strip.h"

namespace fusescope::onnxlib {
namespace {

/// Returns whether ONNX's inference (at least up to 1.23) terminates on an Einsum's equation: before the arrow it reads
/// letters, digits, blanks, commas and "...", and loops forever at anything else.
bool isReadToItsEnd(std::string_view equation) {
  constexpr std::string_view kEllipsis = "...";
  equation = equation.substr(0, equation.find("->"));
  while (!equation.empty()) {
    const auto first = static_cast<unsigned char>(equation.front());
    const bool isEllipsis = equation.starts_with(kEllipsis);
    if (!isEllipsis && std::isalnum(first) == 0 && first != ' ' && first != ',') return false;
    equation.remove_prefix(isEllipsis ? kEllipsis.size() : 1);
  }
  return true;
}

bool hangsInference(const onnx::NodeProto& node) {
  return node.op_type() == "Einsum" && std::ranges::any_of(node.attribute(), [](const auto& attribute) {
           return attribute.name() == "equation" && !isReadToItsEnd(attribute.s());
         });
}

/// Removes the nodes for which ONNX's inference (at least up to 1.23) reads the type of an input that may have none
/// (TreeEnsemble after an unknown operator), and those for which it does not terminate.
void removeUnsafeNodes(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  for (int i = nodes.size() - 1; i >= 0; --i) {
    if (nodes[i].op_type() == "TreeEnsemble" || hangsInference(nodes[i])) {
      nodes.DeleteSubrange(i, 1);
      continue;
    }
    for (auto& attribute : *nodes[i].mutable_attribute())
      if (attribute.has_g()) removeUnsafeNodes(*attribute.mutable_g()->mutable_node());
  }
}

/// Returns the types that ONNX's shape inference finds for the values of the main graph; it may remove nodes of this
/// graph. If it fails, it finds nothing: our own inference judges the network, and this one only gives types where we
/// have no operator.
NameMap<FileType> inferTypes(onnx::ModelProto& proto) {
  NameMap<FileType> types;
  removeUnsafeNodes(*proto.mutable_graph()->mutable_node());
  for (auto& function : *proto.mutable_functions()) removeUnsafeNodes(*function.mutable_node());
  try {
    onnx::shape_inference::InferShapes(proto);
  } catch (const std::exception&) {
    return types;
  }
  for (const auto& item : proto.graph().value_info()) {
    FileType type = typeOf(item.type());
    for (FileDim& dim : type.dims)
      if (dim.symbol.starts_with("unk__")) dim.symbol.clear();  // ONNX's own placeholder
    types.emplace(item.name(), std::move(type));
  }
  return types;
}

Result<FileModel> fileModelOf(const onnx::ModelProto& proto, TensorReader& tensors, const ReadLimits& limits) {
  ProtoReader reader(tensors, limits);
  FileModel model;
  model.irVersion = proto.ir_version();
  model.producer = proto.producer_name();
  if (!proto.producer_version().empty()) model.producer += " " + proto.producer_version();
  model.opsets = opsetsOf(proto.opset_import());
  for (const auto& entry : proto.metadata_props()) model.metadata[entry.key()] = entry.value();
  for (const auto& entry : proto.graph().metadata_props()) model.graphMetadata[entry.key()] = entry.value();
  model.graph = TRY(reader.graph(proto.graph(), model.opsets));
  for (const auto& item : proto.functions()) model.functions.push_back(TRY(reader.function(item)));
  model.holdsTraining = proto.training_info_size() > 0;
  return model;
}

Result<FileModel> readMapped(const std::shared_ptr<const MappedFile>& file, const std::filesystem::path& path,
                             const ReadLimits& limits) {
  if (file->bytes().empty()) return Diagnostic{.message = "is empty"};
  if (isZip(file->bytes()))
    return Diagnostic{
        .message = "is a zip archive, for example an exported program of PyTorch, but an ONNX file is needed",
        .help = "If it is an exported program, convert it with fusescope import FILE."};
  StrippedModel stripped = TRY(stripPayloads(file->bytes(), kMetadataLeft));
  const auto arena = std::make_shared<google::protobuf::Arena>();  // a message of many nodes is freed as a whole
  auto& proto = *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(arena.get());
  TRY(parseModel(stripped.wire, proto));
  stripped.wire = {};
  TRY(checkNames(proto));
  TensorReader tensors(file, std::move(stripped.payloads), ExternalFiles(path), limits.tensorBytes);
  if (limits.takesMissingData) tensors.takeMissingData();
  if (limits.weights != nullptr) tensors.takeWeights(limits.weights, limits.weightsName);
  auto model = fileModelOf(proto, tensors, limits);
  TRY(checkIntact(tensors.files()));  // otherwise neither the model nor an error in it can be trusted
  if (!model.ok()) return model;
  model.value().files = tensors.files();
  // Exporters usually declare all types. Hardly any is then requested, and nothing is inferred before a request.
  const bool declares = proto.graph().value_info_size() > 0;
  model.value().inferred =
      InferredTypes(std::async(declares ? std::launch::deferred : std::launch::async, [arena, &proto] {
                      return inferTypes(proto);
                    }).share());
  return model;
}

}  // namespace

const FileType* InferredTypes::find(std::string_view value) const {
  if (!m_types.valid()) return nullptr;
  const NameMap<FileType>& types = m_types.get();
  const auto found = types.find(value);
  return found == types.end() ? nullptr : &found->second;
}

Result<FileModel> readModel(const std::filesystem::path& path, const ReadLimits& limits) {
  const auto file = TRY(MappedFile::open(path));
  const auto located = [&](Diagnostic error) {
    if (error.where.file.empty()) error.where.file = path.string();
    return error;
  };
  try {
    auto model = readMapped(file, path, limits);
    TRY(file->checkIntact());
    if (!model.ok()) return located(model.error());
    return model;
  } catch (const std::exception& error) {
    return located({.message = std::string("the ONNX library failed: ") + error.what()});
  }
}

}  // namespace fusescope::onnxlib
