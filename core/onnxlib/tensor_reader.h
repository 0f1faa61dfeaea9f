#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <memory>
#include <span>
#include <vector>

#include "onnxlib/external_files.h"
#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

DataType dataTypeOf(int onnxType);  ///< Undefined for types Fusescope has no name for

/// Turns TensorProtos of one file into FileTensors.
class TensorReader {
 public:
  TensorReader(std::shared_ptr<const MappedFile> file, std::vector<std::span<const std::byte>> payloads,
               ExternalFiles external, std::int64_t mostBytes)
      : m_file(std::move(file)),
        m_payloads(std::move(payloads)),
        m_external(std::move(external)),
        m_mostBytes(mostBytes) {}

  /// From now on external data that cannot be had is no error: the tensor has none.
  void takeMissingData() { m_takesMissingData = true; }
  /// Errors are located at the tensor: negative or absurd extents, unknown type, data shorter or longer than the
  /// extents say, external data that is missing, escaping or too short.
  Result<FileTensor> read(const onnx::TensorProto& proto);
  /// A sparse tensor as a dense one of at most 1 GiB, called as its values. Errors: also an index that is outside.
  Result<FileTensor> readSparse(const onnx::SparseTensorProto& proto);
  /// The file of the tensors, if there is one, and those of external data so far.
  MappedFiles files() const;

 private:
  Status fill(const onnx::TensorProto& proto, std::int64_t count, FileTensor& tensor);
  Status fillTyped(const onnx::TensorProto& proto, std::int64_t count, FileTensor& tensor);
  Status fillExternal(const onnx::TensorProto& proto, std::size_t bytes, FileTensor& tensor);
  Status fillRaw(std::span<const std::byte> raw, std::size_t bytes, std::shared_ptr<const void> owner,
                 FileTensor& tensor);

  std::shared_ptr<const MappedFile> m_file;
  std::vector<std::span<const std::byte>> m_payloads;
  ExternalFiles m_external;
  std::int64_t m_mostBytes;
  bool m_takesMissingData = false;
};

}  // namespace fusescope::onnxlib
