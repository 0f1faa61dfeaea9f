#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/stop.h"
#include "ir/tensor.h"

namespace fusescope {

/// The outputs of a network by name; the samples of each are concatenated along the first axis.
using OutputArrays = std::map<std::string, Tensor>;

/// Concatenates the results of samples along the first axis; scalars become a vector. It is an error if the other
/// extents differ, or if the values are text or containers.
Result<Tensor> joinedAlongFirstAxis(const std::vector<Tensor>& ofSamples, const std::string& name);

/// Runs `command` in the shell with two more arguments, the paths of two .npz files with arrays by output name: the
/// expected outputs, and those to be judged. The command prints one number to standard output, the error, of which less
/// is better; its standard error is passed through. If `stop` is requested, the command and all processes that it
/// started are ended. It is an error if the command cannot be run, fails, or prints anything but a number.
Result<double> outsideMetric(const std::string& command, const OutputArrays& expected, const OutputArrays& actual,
                             const StopToken& stop);

}  // namespace fusescope
