#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// What torch is to make an ONNX network of.
struct ImportSettings {
  std::string program;             ///< of code, SCRIPT.py:FUNCTION or a TorchScript file
  std::string environment;         ///< its name, or the command that starts its Python; empty: the first that has torch
  std::vector<std::string> names;  ///< SYMBOL=NAME
  std::string into;                ///< the exported program to write, of code; empty: beside the file
  bool overwrites = false, isConfirmed = false, breaks = false;
  std::vector<std::string> scriptInputs;  ///< NAME=DIMS[:TYPE], of TorchScript

  std::vector<Option> options();
};

}  // namespace fusescope
