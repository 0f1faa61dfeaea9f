#pragma once

#include <filesystem>
#include <memory>

#include "compilers/onnxruntime/kernel_covers.h"

namespace fusescope::onnxruntime {

/// A network and its optimised form, bound to each other. It cannot be copied or moved, because its parts refer to each
/// other.
struct Reading {
  Reading(const CompilerInput& handed, onnxlib::FileModel file);
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  onnxlib::FileModel file;  ///< the optimised network, without the data of weights
  Network network;
  Optimised optimised;
  KernelCovers covers;
};

/// Reads the optimised network at `path`. `handed` must outlive the result. Errors: it cannot be read, or belongs to
/// another network, because its outputs have other names.
Result<std::unique_ptr<Reading>> readNetwork(const CompilerInput& handed, const std::filesystem::path& path);

}  // namespace fusescope::onnxruntime
