#pragma once
// The interface to the ONNX library: only the .cpp files of this folder include headers of onnx or protobuf. The
// interface is plain C++, and every exception of the library becomes a Diagnostic.

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

/// A tensor of a file. `data` points into a mapped file or into memory that `owner` keeps. Both are null if the tensor
/// has no data (a weightless model), has no elements, or contains strings. Mapped data may begin at any address, not
/// only at a multiple of the element's size.
struct FileTensor {
  std::string name;
  DataType dtype = DataType::Undefined;
  std::vector<std::int64_t> dims;
  std::shared_ptr<const void> owner;
  const std::byte* data = nullptr;
  std::vector<std::string> strings;
  bool hasData = false;
};

/// One extent: a size, a symbol, or unknown.
struct FileDim {
  std::int64_t size = -1;
  std::string symbol;
};

/// The declared type of a value; for a container, the type of its elements. Maps have dtype Undefined.
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

/// The value of an attribute. It is `std::monostate` for kinds that are not read (types of maps, lists of tensors or
/// graphs). A sparse tensor is converted to a dense one.
using FileAttributeValue =
    std::variant<std::monostate, std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                 std::vector<std::string>, FileTensor, FileType, std::shared_ptr<const FileGraph>>;

struct FileAttribute {
  std::string name;
  std::string reference;  ///< in the body of a function: the caller's attribute that gives the value
  FileAttributeValue value;
};

struct FileNode {
  std::string name;  ///< empty if the node has no name
  std::string op;
  std::string domain;  ///< empty for ai.onnx
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<FileAttribute> attributes;
  std::string module;           ///< "encoder.layer.3", from the exporter's metadata; empty if there are none
  std::string source;           ///< source lines from the exporter's metadata, as Python prints a trace; may be empty
  std::string programNode;      ///< the node of an exported program that it was made of; see Origin::programNode
  bool newest = false;          ///< it has the form of the newest opset, because the importer made it
  std::string documentation{};  ///< doc_string; empty unless ReadLimits::takesDocumentation is true

  const FileAttribute* attribute(std::string_view key) const;
  /// Returns the name for messages: the node's name, or `node_of_<first output>` if it has none.
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

using Opsets = std::map<std::string, std::int64_t>;  ///< version by domain ("" is ai.onnx)

struct FileFunction {
  std::string name;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<FileAttribute> defaults;  ///< attributes that have a value if the caller gives none
  std::vector<FileNode> nodes;
  Opsets opsets;
};

/// The types that ONNX's own shape inference finds for values of a main graph. Inference runs in the background, and
/// find() waits for it. Copies share the result. Thread-safe.
class InferredTypes {
 public:
  InferredTypes() = default;  ///< contains no types
  explicit InferredTypes(std::shared_future<NameMap<FileType>> types) : m_types(std::move(types)) {}
  /// Returns null if nothing was found for that value.
  const FileType* find(std::string_view value) const;

 private:
  std::shared_future<NameMap<FileType>> m_types;
};

struct FileModel {
  std::int64_t irVersion = 0;
  std::string producer;  ///< name and version
  Opsets opsets;
  std::map<std::string, std::string> metadata;
  /// Metadata of the main graph, in which PyTorch's exporter records information.
  std::map<std::string, std::string> graphMetadata;
  FileGraph graph;
  std::vector<FileFunction> functions;
  MappedFiles files;           ///< the file of the model, then the files of its external data
  InferredTypes inferred;      ///< for operators that we do not know
  bool holdsTraining = false;  ///< the file also has training steps (training_info), which are not read
};

struct NetworkBytes;

struct ReadLimits {
  std::int64_t nodes = 1'000'000;
  std::int64_t tensorBytes = std::int64_t{64} << 30;
  int subgraphDepth = 32;
  /// If it is true, external data that cannot be read is treated as absent, as in a weightless model. This is for
  /// networks that are only viewed.
  bool takesMissingData = false;
  /// If it is true, FileNode::documentation is read. Exporters may write much text there that nobody needs.
  bool takesDocumentation = false;
  /// If it is not null, external data in the file of this name are parts of these weights, and no such file is opened.
  /// The tensors keep the object.
  std::shared_ptr<const NetworkBytes> weights{};
  std::string weightsName{};
};

/// Reads an ONNX file. Tensors of 4 KiB and more and external data are mapped, not copied. Each node of an operator
/// that the library knows is checked against its schema. Errors are located at file, node, tensor and attribute. It is
/// an error if a file changes while it is read.
Result<FileModel> readModel(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Returns the bytes of an .onnx file with the contents of `model`, except functions and inferred types. It is an error
/// if they are larger than a file may be.
Result<std::string> modelBytes(const FileModel& model);

/// Returns the complaint of ONNX's own checker, including shape inference, about a file, or nothing if there is none.
std::optional<std::string> checkerComplaint(const std::filesystem::path& path);

/// Returns the number of an element type in attributes such as Cast's `to`; 0 for a type that ONNX does not have.
std::int64_t elementTypeNumber(DataType type);

/// Returns the newest version of the file format that the library knows. kOldestIrVersion is the oldest in which a file
/// names its opsets.
std::int64_t newestIrVersion();
inline constexpr std::int64_t kOldestIrVersion = 3;
/// Returns the oldest version of the file format for an opset of ai.onnx, as ONNX released them. Only opsets that the
/// library knows are supported.
std::int64_t irVersionFor(std::int64_t opset);
/// Returns the newest opset of ai.onnx that the library knows.
std::int64_t newestOpset();
/// Returns the opset that introduced the version of the operator that is valid at `opset` of its domain; 0 if the
/// library does not know the operator.
std::int64_t operatorVersion(const std::string& domain, const std::string& op, std::int64_t opset);

/// Returns the body of an operator that its schema defines as a function, at the given opset, for inputs of these types
/// (one per input, in order). Returns nothing if the operator is primitive or unknown.
Result<std::optional<FileFunction>> functionBody(const FileNode& node, std::int64_t opset,
                                                 const std::vector<FileType>& inputTypes);

}  // namespace fusescope::onnxlib
