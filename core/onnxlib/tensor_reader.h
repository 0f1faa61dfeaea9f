#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

DataType dataTypeOf(int onnxType);  ///< Undefined for types that Fusescope does not have

/// The files with a model's external data; each is mapped once. No file outside the model's folder is opened.
class ExternalFiles {
 public:
  explicit ExternalFiles(const std::filesystem::path& model);
  /// Opens the file at `location`. The error names a location that is absolute, that leaves the folder (by ".." or
  /// through a link), or that does not exist. The next tensor at that location gets the same answer.
  Result<std::shared_ptr<const MappedFile>> open(const std::string& location);
  MappedFiles opened() const;

 private:
  Result<std::shared_ptr<const MappedFile>> find(const std::string& location) const;

  std::filesystem::path m_folder;
  std::map<std::string, Result<std::shared_ptr<const MappedFile>>> m_found;  ///< or why not, by location
};

/// Converts the TensorProtos of one file to FileTensors.
class TensorReader {
 public:
  TensorReader(std::shared_ptr<const MappedFile> file, std::vector<std::span<const std::byte>> payloads,
               ExternalFiles external, std::int64_t mostBytes)
      : m_file(std::move(file)),
        m_payloads(std::move(payloads)),
        m_external(std::move(external)),
        m_mostBytes(mostBytes) {}

  /// From now on, a tensor whose external data cannot be read has no data, and this is not an error.
  void takeMissingData() { m_takesMissingData = true; }
  /// From now on, external data at location `name` are parts of `weights`.
  void takeWeights(std::shared_ptr<const NetworkBytes> weights, std::string name);
  /// Reads a tensor. Errors are located at the tensor: negative or absurd extents, an unknown type, data whose size
  /// does not match the extents, or external data that is missing, outside the folder, or too short.
  Result<FileTensor> read(const onnx::TensorProto& proto);
  /// Converts a sparse tensor to a dense one of at most 1 GiB with the name of its values. It is also an error if an
  /// index is outside the tensor.
  Result<FileTensor> readSparse(const onnx::SparseTensorProto& proto);
  /// Returns the file of the tensors, if there is one, and the files of external data that were opened so far.
  MappedFiles files() const;

 private:
  Status fill(const onnx::TensorProto& proto, std::int64_t count, FileTensor& tensor);
  Status fillTyped(const onnx::TensorProto& proto, std::int64_t count, FileTensor& tensor);
  Status fillExternal(const onnx::TensorProto& proto, std::size_t bytes, FileTensor& tensor);
  Status fillFromWeights(std::uint64_t offset, std::size_t bytes, FileTensor& tensor);
  Status fillRaw(std::span<const std::byte> raw, std::size_t bytes, std::shared_ptr<const void> owner,
                 FileTensor& tensor);

  std::shared_ptr<const MappedFile> m_file;
  std::vector<std::span<const std::byte>> m_payloads;
  ExternalFiles m_external;
  std::int64_t m_mostBytes;
  bool m_takesMissingData = false;
  std::shared_ptr<const NetworkBytes> m_weights;
  std::string m_weightsName;
  std::map<std::uint64_t, std::span<const std::byte>> m_pieces;  ///< the pieces of m_weights, by their offsets
};

}  // namespace fusescope::onnxlib
