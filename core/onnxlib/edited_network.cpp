#include "onnxlib/edited_network.h"

#include <array>
#include <functional>

#include "base/files.h"
#include "onnxlib/model_proto.h"
#include "onnxlib/name_numbers.h"
#include "onnxlib/proto_editor.h"
#include "onnxlib/tensor_reader.h"
#include "onnxlib/wire_strip.h"

namespace fusescope::onnxlib {
namespace {

constexpr std::size_t kPage = 4096;  // alignment of external data that ONNX recommends, so that weights can be mapped

using TensorVisitor = std::function<Status(onnx::TensorProto& tensor, bool isInitializer)>;

Status forTensors(onnx::GraphProto& graph, const TensorVisitor& visit);

Status forTensors(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, const TensorVisitor& visit) {
  for (auto& node : nodes) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) TRY(visit(*attribute.mutable_t(), false));
      for (auto& tensor : *attribute.mutable_tensors()) TRY(visit(tensor, false));
      if (attribute.has_sparse_tensor()) {
        TRY(visit(*attribute.mutable_sparse_tensor()->mutable_values(), false));
        TRY(visit(*attribute.mutable_sparse_tensor()->mutable_indices(), false));
      }
      if (attribute.has_g()) TRY(forTensors(*attribute.mutable_g(), visit));
      for (auto& graph : *attribute.mutable_graphs()) TRY(forTensors(graph, visit));
    }
  }
  return Done{};
}

Status forTensors(onnx::GraphProto& graph, const TensorVisitor& visit) {
  for (auto& tensor : *graph.mutable_initializer()) TRY(visit(tensor, true));
  for (auto& sparse : *graph.mutable_sparse_initializer()) {
    TRY(visit(*sparse.mutable_values(), false));
    TRY(visit(*sparse.mutable_indices(), false));
  }
  return forTensors(*graph.mutable_node(), visit);
}

Status forTensors(onnx::ModelProto& model, const TensorVisitor& visit) {
  TRY(forTensors(*model.mutable_graph(), visit));
  for (auto& function : *model.mutable_functions()) TRY(forTensors(*function.mutable_node(), visit));
  return Done{};
}

bool liesElsewhere(const onnx::TensorProto& tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

/// Returns whether the file itself, and not our reader, has the tensor's data in another file.
bool isExternalInFile(const onnx::TensorProto& tensor) {
  if (!liesElsewhere(tensor)) return false;
  for (const auto& entry : tensor.external_data())
    if (entry.key() == kPayloadKey) return false;
  return true;
}

/// Returns the files with the model's external data, including that of weights that edits replace. Files that do not
/// exist are left out.
MappedFiles filesBeside(onnx::ModelProto& model, const std::filesystem::path& path) {
  ExternalFiles external(path);
  const auto opened = forTensors(model, [&](onnx::TensorProto& tensor, bool) -> Status {
    if (!isExternalInFile(tensor)) return Done{};
    for (const auto& entry : tensor.external_data())
      if (entry.key() == "location") static_cast<void>(external.open(entry.value()));
    return Done{};
  });
  return opened.ok() ? external.opened() : MappedFiles();
}

/// Assigns every weight to its place in the files to be written.
class WeightPlacer {
 public:
  WeightPlacer(TensorReader& tensors, std::string weightsName, NetworkBytes& network)
      : m_tensors(tensors), m_weightsName(std::move(weightsName)), m_network(network) {}

  Status run(onnx::ModelProto& model, std::int64_t mostInside) {
    bool beside = false;
    std::int64_t bytes = 0;
    TRY(forTensors(model, [&](onnx::TensorProto& tensor, bool isInitializer) -> Status {
      if (!liesElsewhere(tensor)) return Done{};
      beside = beside || (isExternalInFile(tensor) && isInitializer);
      bytes += static_cast<std::int64_t>(spanOf(TRY(m_tensors.read(tensor))).size());
      return Done{};
    }));
    m_beside = beside || bytes > mostInside;
    return forTensors(model, [&](onnx::TensorProto& tensor, bool isInitializer) -> Status {
      return liesElsewhere(tensor) ? place(tensor, isInitializer) : Status(Done{});
    });
  }

 private:
  static std::span<const std::byte> spanOf(const FileTensor& tensor) {
    std::int64_t count = 1;
    for (const std::int64_t extent : tensor.dims) count *= extent;
    return {tensor.data, tensor.data == nullptr ? 0 : byteSize(tensor.dtype, count)};
  }

  Status place(onnx::TensorProto& proto, bool isInitializer) {
    const FileTensor tensor = TRY(m_tensors.read(proto));
    const auto bytes = spanOf(tensor);
    proto.clear_external_data();
    proto.clear_data_location();
    if (!m_beside || !isInitializer || bytes.size() < kMappedFrom) {
      proto.set_raw_data(bytes.data(), bytes.size());
      return Done{};
    }
    static constexpr std::array<std::byte, kPage> kPadding{};
    if (const std::size_t over = m_offset % kPage; over != 0) {
      m_network.weights.emplace_back(kPadding.data(), kPage - over);
      m_offset += kPage - over;
    }
    proto.set_data_location(onnx::TensorProto::EXTERNAL);
    addEntry(proto, "location", m_weightsName);
    addEntry(proto, "offset", std::to_string(m_offset));
    addEntry(proto, "length", std::to_string(bytes.size()));
    m_network.weights.push_back(bytes);
    m_network.owners.push_back(tensor.owner);
    m_offset += bytes.size();
    return Done{};
  }

  static void addEntry(onnx::TensorProto& proto, const char* key, const std::string& value) {
    auto* entry = proto.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }

  TensorReader& m_tensors;
  std::string m_weightsName;
  NetworkBytes& m_network;
  bool m_beside = false;
  std::size_t m_offset = 0;
};

/// What is done with a model before and after it is edited.
struct Naming {
  std::function<void(onnx::ModelProto&)> before{}, after{};
};

Result<NetworkBytes> editMapped(const std::shared_ptr<const MappedFile>& file, const std::filesystem::path& path,
                                const NetworkEdits& edits, const std::string& weightsName, std::int64_t mostInside,
                                const Naming& naming) {
  StrippedModel stripped = TRY(stripPayloads(file->bytes()));
  onnx::ModelProto proto;
  TRY(parseModel(stripped.wire, proto));
  stripped.wire = {};
  const auto readBefore = namesRead(proto.graph());
  const MappedFiles beside = filesBeside(proto, path);
  if (naming.before) naming.before(proto);
  TRY(ProtoEditor(proto, stripped.payloads).apply(edits));
  dropUnread(*proto.mutable_graph(), readBefore);
  if (naming.after) naming.after(proto);
  NetworkBytes network;
  for (const auto& added : edits.initializers) network.owners.push_back(added.tensor.owner);
  TensorReader tensors(file, std::move(stripped.payloads), ExternalFiles(path), ReadLimits().tensorBytes);
  TRY(WeightPlacer(tensors, weightsName, network).run(proto, mostInside));
  network.files = tensors.files();
  network.files.insert(network.files.end(), beside.begin(), beside.end());
  if (!proto.SerializeToString(&network.model))
    return Diagnostic{.message = "the network without its weights is too large for an ONNX file",
                      .help = "The limit of protobuf is 2 GiB."};
  return network;
}

Result<NetworkBytes> edited(const std::filesystem::path& path, const NetworkEdits& edits,
                            const std::string& weightsName, std::int64_t mostInside, const Naming& naming) {
  const auto file = TRY(MappedFile::open(path));
  const auto located = [&](Diagnostic error) {
    if (error.where.file.empty()) error.where.file = path.string();
    return error;
  };
  try {
    auto network = editMapped(file, path, edits, weightsName, mostInside, naming);
    TRY(file->checkIntact());
    if (!network.ok()) return located(network.error());
    TRY(checkIntact(network.value().files));
    return network;
  } catch (const std::exception& error) {
    return located({.message = std::string("the ONNX library failed: ") + error.what()});
  }
}

}  // namespace

Result<NetworkBytes> editNetwork(const std::filesystem::path& path, const NetworkEdits& edits,
                                 const std::string& weightsName, std::int64_t mostInside) {
  return edited(path, edits, weightsName, mostInside, {});
}

Result<NumberedNetwork> numberedNetwork(const std::filesystem::path& path, const NetworkEdits& edits,
                                        const std::string& weightsName, std::int64_t mostInside) {
  NameNumbers numbers;
  NumberedNetwork network;
  const Naming naming{.before = [&](onnx::ModelProto& model) { numbers.markNodes(model); },
                      .after = [&](onnx::ModelProto& model) { network.values = numbers.name(model); }};
  network.bytes = TRY(edited(path, edits, weightsName, mostInside, naming));
  return network;
}

std::string weightsNameOf(const std::filesystem::path& path) {
  return path.filename().string() + ".data";
}

Status writeNetwork(const std::filesystem::path& path, const NetworkBytes& network) {
  return writeNetworkAs(path, path.parent_path() / weightsNameOf(path), network);
}

Status checkNotWrittenOver(const std::filesystem::path& path, const MappedFiles& files) {
  const auto there = identityOf(path);
  if (!there.ok()) return Done{};
  for (const auto& file : files)
    if (file->identity().device == there.value().device && file->identity().inode == there.value().inode)
      return Diagnostic{.message = "would be written over: the network is read from it",
                        .where = {.file = path.string()},
                        .help = "Give another name with -o."};
  return Done{};
}

Status writeNetworkAs(const std::filesystem::path& path, const std::filesystem::path& weights,
                      const NetworkBytes& network) {
  TRY(checkNotWrittenOver(path, network.files));
  if (!network.weights.empty()) TRY(checkNotWrittenOver(weights, network.files));
  const auto check = [&] { return checkIntact(network.files); };
  if (!network.weights.empty()) TRY(writePiecesAtomically(weights, network.weights, check, network.files));
  TRY(check());
  return writeFileAtomically(path, network.model);
}

}  // namespace fusescope::onnxlib
