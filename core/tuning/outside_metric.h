#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/stop.h"
#include "ir/tensor.h"

namespace fusescope {

/// Outputs of a network by name, each of all samples one behind the other along their first axis.
using OutputArrays = std::map<std::string, Tensor>;

/// Joins what samples gave along the first axis; scalars become a vector. Errors: samples of other extents behind the
/// first axis; text and containers.
Result<Tensor> joinedAlongFirstAxis(const std::vector<Tensor>& ofSamples, const std::string& name);

/// Runs `command` by the shell with two more arguments, the paths of two .npz files: what is expected and what is to be
/// judged, arrays by the names of outputs. It prints one number on standard output, the error: less is better. Its
/// standard error is left to it. Stopping ends it and all that it started. Errors: it cannot be run, fails, or prints
/// anything but a number.
Result<double> outsideMetric(const std::string& command, const OutputArrays& expected, const OutputArrays& actual,
                             const StopToken& stop);

}  // namespace fusescope
