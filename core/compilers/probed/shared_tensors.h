#pragma once

#include <map>
#include <span>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "ir/tensor.h"
#include "probe/started_process.h"

namespace fusescope {

/// Tensors that this process and a probe's on the same machine see at once: a file in memory that has no name, so that
/// it ends with the last process that has it, however that ends. It never becomes shorter. For one run at a time.
class SharedTensors {
 public:
  SharedTensors() = default;
  SharedTensors(const SharedTensors&) = delete;
  SharedTensors& operator=(const SharedTensors&) = delete;
  ~SharedTensors();

  /// Whether tensors of this type can be handed over so: texts and containers go in files.
  static bool takes(const Tensor& tensor);

  /// Puts `tensors` there, in place of all that was. What a request tells of them: {path, identity[], list[{name, type,
  /// dims, at}]}. Errors: the system has no memory for them.
  Result<Json> put(const std::map<std::string, Tensor>& tensors);
  /// Those that the probe put there, as its answer lists them: copies. Errors: a list that does not fit what is there.
  Result<std::map<std::string, Tensor>> taken(const Json& list);

 private:
  Status open();
  Status map(std::size_t bytes);

  Descriptor m_file;
  std::span<std::byte> m_bytes;
};

}  // namespace fusescope
