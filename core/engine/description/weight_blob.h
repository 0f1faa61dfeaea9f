#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/mapped_file.h"
#include "base/stop.h"
#include "ir/tensor.h"

namespace fusescope {

/// Collects the data of tensors for one blob of a file, each at a 64-byte boundary, without copying it. The data of the
/// tensors must stay valid until the pieces are written.
class WeightBlobWriter {
 public:
  /// If `stop` is requested, tensors are no longer read, and what was collected is of no use.
  /// Tensors whose hashes are known (base/part_hashes.h), because they lie in one of `files`, are not read either.
  explicit WeightBlobWriter(StopToken stop = {}, MappedFiles files = {})
      : m_stop(std::move(stop)), m_files(std::move(files)) {}
  /// Adds the data and returns the JSON that represents the tensor: type, dims, and offset, bytes and hash of its data.
  Json add(const Tensor& tensor);
  const std::vector<std::span<const std::byte>>& pieces() const { return m_pieces; }
  std::uint64_t bytes() const { return m_bytes; }

 private:
  StopToken m_stop;
  MappedFiles m_files;
  std::vector<std::span<const std::byte>> m_pieces;
  std::vector<Tensor> m_keep;
  std::uint64_t m_bytes = 0;
};

/// Which tensors are compared with their hashes when they are read: all, or only small ones, for callers that only need
/// the types and extents of the large ones.
enum class WeightCheck { All, Small };

/// Reads tensors as views of a mapped file. Every number is checked against the blob, and a hash that differs is an
/// error. A missing field throws Json::exception, which the reader of the file catches.
class WeightBlobReader {
 public:
  WeightBlobReader(std::shared_ptr<const MappedFile> file, std::span<const std::byte> blob,
                   WeightCheck check = WeightCheck::All)
      : m_file(std::move(file)), m_blob(blob), m_check(check) {}
  Result<Tensor> read(const Json& json) const;
  const std::shared_ptr<const MappedFile>& file() const { return m_file; }

 private:
  std::shared_ptr<const MappedFile> m_file;
  std::span<const std::byte> m_blob;
  WeightCheck m_check;
};

}  // namespace fusescope
