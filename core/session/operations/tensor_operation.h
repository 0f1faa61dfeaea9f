#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// The tensor that is shown, and the files it is written to.
struct TensorSettings {
  std::string name;         ///< a value, or HOLDER/NAME of a constant in a body
  std::int64_t sample = 0;  ///< its index, from 0
  std::string slice;        ///< "0,:,:"; empty: no numbers are printed
  std::string npy, npyF32;  ///< files to write; empty: none
  std::string npz;          ///< the file for both; empty: none

  std::vector<Option> options();
};

}  // namespace fusescope
