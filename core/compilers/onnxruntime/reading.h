#pragma once

#include <filesystem>
#include <memory>

#include "compilers/onnxruntime/kernel_covers.h"

namespace fusescope::onnxruntime {

/// A network and its optimised form, bound to each other. Neither copied nor moved: its parts refer to each other.
struct Reading {
  Reading(const HandedNetwork& handed, onnxlib::FileModel file);
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  onnxlib::FileModel file;  ///< the optimised network; weights have no data
  Network network;
  Optimised optimised;
  KernelCovers covers;
};

/// Reads the optimised network at `path`. `handed` must outlive what is returned. Errors: it cannot be read, or is not
/// of this network: its outputs have other names.
Result<std::unique_ptr<Reading>> readNetwork(const HandedNetwork& handed, const std::filesystem::path& path);

}  // namespace fusescope::onnxruntime
