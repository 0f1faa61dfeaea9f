#pragma once
// The ONNX library behind one door: only the .cpp files of this folder include onnx or protobuf headers. What comes out
// is plain C++; every exception of the library ends here and becomes a Diagnostic.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/data_type.h"
#include "base/mapped_file.h"
#include "base/name_map.h"
#include "base/result.h"

namespace fusescope::onnxlib {

/// A tensor as the file holds it. `data` points into a mapped file or into memory that `owner` keeps; both null when
/// the tensor has no data (a weightless model), has no elements, or holds strings. Mapped data is where the file has
/// it, so it may lie at any address, not only at a multiple of the element's size.
struct FileTensor {
  std::string name;
  DataType dtype = DataType::Undefined;
  std::vector<std::int64_t> dims;
  std::shared_ptr<const void> owner;
  const std::byte* data = nullptr;
  std::vector<std::string> strings;
  bool hasData = false;
};

/// One extent: a size, or a symbol, or neither.
struct FileDim {
  std::int64_t size = -1;
  std::string symbol;
};

/// The type of a value as declared; of a container: that of its elements. Maps have dtype Undefined.
struct FileType {
  DataType dtype = DataType::Undefined;
  bool ranked = false;
  std::vector<FileDim> dims;
  Container container = Container::None;
};

struct FileValue {
  std::string name;
  FileType type;
};

struct FileGraph;

/// `std::monostate`: of a kind that is not read (a type of maps, lists of tensors or graphs). A sparse tensor is made
/// dense.
using FileAttributeValue =
    std::variant<std::monostate, std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                 std::vector<std::string>, FileTensor, FileType, std::shared_ptr<const FileGraph>>;

struct FileAttribute {
  std::string name;
  std::string reference;  ///< in a function body: the attribute of the caller that gives the value
  FileAttributeValue value;
};

struct FileNode {
  std::string name;  ///< empty: nameless
  std::string op;
  std::string domain;  ///< "" is ai.onnx
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<FileAttribute> attributes;
  std::string module;       ///< "encoder.layer.3", from the exporter's scope metadata; empty where there is none
  std::string source;       ///< the lines of source that it comes from, likewise; as Python prints a trace
  std::string programNode;  ///< the node of an exported program that it was made of; see Origin::programNode
  bool newest = false;      ///< in the form of the newest opset, whatever the file's: made by the importer

  const FileAttribute* attribute(std::string_view key) const;
  /// How messages call the node: its name, else `node_of_<first output>`.
  std::string displayName() const;
};

struct FileGraph {
  std::string name;
  std::vector<FileNode> nodes;
  std::vector<FileValue> inputs;
  std::vector<FileValue> outputs;
  std::vector<FileValue> values;  ///< value_info
  std::vector<FileTensor> initializers;
};

using Opsets = std::map<std::string, std::int64_t>;  ///< domain ("" is ai.onnx) to version

struct FileFunction {
  std::string name;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<FileAttribute> defaults;  ///< attributes with a value if the caller gives none
  std::vector<FileNode> nodes;
  Opsets opsets;
};

/// The types that ONNX's own shape inference finds for values of a main graph. It works beside what is done with the
/// file meanwhile: find() waits for it. Copies share what was found. Any thread.
class InferredTypes {
 public:
  InferredTypes() = default;  ///< knows none
  explicit InferredTypes(std::shared_future<NameMap<FileType>> types) : m_types(std::move(types)) {}
  /// Null: nothing was found for that value.
  const FileType* find(std::string_view value) const;

 private:
  std::shared_future<NameMap<FileType>> m_types;
};

struct FileModel {
  std::int64_t irVersion = 0;
  std::string producer;  ///< name and version
  Opsets opsets;
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::string> graphMetadata;  ///< of the main graph, where PyTorch's exporter leaves notes
  FileGraph graph;
  std::vector<FileFunction> functions;
  MappedFiles files;           ///< the model's own, then those of its external data
  InferredTypes inferred;      ///< for operators that we do not know
  bool holdsTraining = false;  ///< steps for training beside the network (training_info), which are not read
};

struct ReadLimits {
  std::int64_t nodes = 1'000'000;
  std::int64_t tensorBytes = std::int64_t{64} << 30;
  int subgraphDepth = 32;
  /// External data that cannot be had is none, as in a weightless model: of networks that are only looked at.
  bool takesMissingData = false;
};

/// Reads an ONNX file. Tensors of 4 KiB and more are mapped, never copied; external data is mapped. Each node of an
/// operator the library knows is checked against its schema. Errors are located: file, node, tensor, attribute; one is
/// that a file changed while it was read.
Result<FileModel> readModel(const std::filesystem::path& path, const ReadLimits& limits = {});

/// The bytes of an .onnx file that holds all of `model`; functions and what inference found are not written. Errors: it
/// is larger than a file may be.
Result<std::string> modelBytes(const FileModel& model);

/// What ONNX's own checker, shape inference included, says of a file; nothing: all is well.
std::optional<std::string> checkerComplaint(const std::filesystem::path& path);

/// The number of an element type, as attributes (Cast's `to`) hold it; 0 for one that ONNX does not have.
std::int64_t elementTypeNumber(DataType type);

/// The newest version of the file format that the library knows, and the oldest in which a file names its opsets.
std::int64_t newestIrVersion();
inline constexpr std::int64_t kOldestIrVersion = 3;
/// The newest opset of ai.onnx that the library knows.
std::int64_t newestOpset();
/// The opset that brought the version of the operator in force at `opset` (of its domain); 0 if the library knows none.
std::int64_t operatorVersion(const std::string& domain, const std::string& op, std::int64_t opset);

/// The body of an operator that its schema defines as a function, at the given opset, for inputs of these types
/// (one per input, in order). Nothing if the operator is primitive or unknown.
Result<std::optional<FileFunction>> functionBody(const FileNode& node, std::int64_t opset,
                                                 const std::vector<FileType>& inputTypes);

}  // namespace fusescope::onnxlib
