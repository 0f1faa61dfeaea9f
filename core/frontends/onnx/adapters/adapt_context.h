#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope {

/// What an adapter can query about the graph around its node, and add to the graph.
class AdaptContext {
 public:
  virtual ~AdaptContext() = default;
  virtual const onnxlib::FileType* type(const std::string& value) const = 0;        ///< null if unknown
  virtual const onnxlib::FileTensor* constant(const std::string& value) const = 0;  ///< null if it is not a constant
  virtual std::string freshValue(const std::string& wanted) = 0;  ///< a value name that is not used yet
  /// Adds a one-dimensional int64 constant and returns its name.
  virtual std::string addConstant(const std::string& wanted, std::vector<std::int64_t> values) = 0;
  /// Adds a constant of any type and returns its name.
  virtual std::string addTensor(const std::string& wanted, onnxlib::FileTensor tensor) = 0;
};

}  // namespace fusescope
