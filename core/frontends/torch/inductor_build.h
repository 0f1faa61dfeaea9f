#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "base/result.h"

namespace fusescope {

/// A kernel of TorchInductor, and the nodes that it was made of according to TorchInductor.
struct InductorKernel {
  std::string name;                       ///< "extern_kernels.addmm:2"
  std::vector<std::string> origins{};     ///< nodes of the network that TorchInductor received, without duplicates
  DataType output = DataType::Undefined;  ///< type of its result; Undefined if it is not reported
};

/// Lists of nodes, by the name of a kernel or of a node.
using InductorNames = std::map<std::string, std::vector<std::string>>;
/// Returns the kernels in the order of their calls. `kernels` gives, by kernel, the nodes on which TorchInductor works;
/// `origins` gives the nodes of which these were made.
std::vector<InductorKernel> inductorKernelsOf(const InductorNames& kernels, const InductorNames& origins);

/// What TorchInductor made of a network earlier, according to its files.
struct InductorBuild {
  std::vector<InductorKernel> kernels{};  ///< in the order of their calls
  std::string device{};                   ///< "cpu, x86_64, AVX512"; empty if the file does not contain it
};

/// Returns whether readInductorBuild() can read `path`, which is decided by its beginning or its members: a package of
/// AOTInductor, or one of the two JSON files. Thread-safe.
bool isInductorBuild(const std::filesystem::path& path);

/// Reads a package of AOTInductor (.pt2), only its kernel_information.json, or TorchInductor's
/// inductor_provenance_tracking_node_mappings.json. The code in a package is neither loaded nor run. Errors are located
/// at the file and, in a package, at the member. It is an error if the file is none of these, if the package was
/// compiled without recording the origins of its kernels, if it contains several networks, or if a field has a wrong
/// type.
Result<InductorBuild> readInductorBuild(const std::filesystem::path& path);

}  // namespace fusescope
