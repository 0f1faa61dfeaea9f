#pragma once

#include <map>
#include <span>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "ir/tensor.h"
#include "probe/started_process.h"

namespace fusescope {

/// Tensors in memory that this process shares with a probe's process on the same machine. They are in an anonymous file
/// in memory, which disappears with the last process that uses it, however that ends. The file never shrinks. It may be
/// used for one run at a time.
class SharedTensors {
 public:
  SharedTensors() = default;
  SharedTensors(const SharedTensors&) = delete;
  SharedTensors& operator=(const SharedTensors&) = delete;
  ~SharedTensors();

  /// Returns whether this tensor can be passed in shared memory; text and containers are passed in files.
  static bool takes(const Tensor& tensor);

  /// Replaces the contents by `tensors`. Returns the description for a request: {path, identity[], list[{name, type,
  /// dims, at}]}. Errors: the system has no memory for them.
  Result<Json> put(const std::map<std::string, Tensor>& tensors);
  /// Returns copies of the tensors that the probe wrote, as its answer lists them. Errors: the list contradicts the
  /// contents.
  Result<std::map<std::string, Tensor>> taken(const Json& list);

 private:
  Status open();
  Status map(std::size_t bytes);

  Descriptor m_file;
  std::span<std::byte> m_bytes;
};

}  // namespace fusescope
