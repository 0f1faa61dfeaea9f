#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "base/result.h"

namespace fusescope {

/// A kernel that TorchInductor made, and what it says that it made it of.
struct InductorKernel {
  std::string name;                       ///< "extern_kernels.addmm:2"
  std::vector<std::string> origins{};     ///< nodes of the network that it was given, each once
  DataType output = DataType::Undefined;  ///< the type of what it writes; Undefined: it is not told
};

/// Nodes by the name of a kernel or of a node.
using InductorNames = std::map<std::string, std::vector<std::string>>;
/// The kernels in the order of their calls. `kernels`: the nodes that TorchInductor works on, by kernels; `origins`:
/// the nodes that these were made of.
std::vector<InductorKernel> inductorKernelsOf(const InductorNames& kernels, const InductorNames& origins);

/// What TorchInductor made of a network before, as files of it tell.
struct InductorBuild {
  std::vector<InductorKernel> kernels{};  ///< in the order of their calls
  std::string device{};                   ///< "cpu, x86_64, AVX512"; empty: the file does not say
};

/// Whether readInductorBuild() is to read `path`, by its beginning or its members: a package of AOTInductor, or one of
/// the two files of JSON. Any thread.
bool isInductorBuild(const std::filesystem::path& path);

/// What is in a package that AOTInductor wrote (.pt2), in its kernel_information.json alone, or in TorchInductor's
/// inductor_provenance_tracking_node_mappings.json. The code in a package is neither loaded nor run. Errors are located
/// at the file and, in a package, at the member: it is none of these; the package was compiled without keeping where
/// its kernels come from, or holds several networks; a field has another type than it should have.
Result<InductorBuild> readInductorBuild(const std::filesystem::path& path);

}  // namespace fusescope
