#pragma once

#include <filesystem>
#include <memory>

#include "ir/graph.h"
#include "ir/model.h"

namespace fusescope::test {

/// Returns a network whose plan has two fused nodes of the same name: a kernel of the nodes a and b, and a node that is
/// called "a + b".
std::shared_ptr<const Model> networkOfOneNameTwice();

/// Returns the model of a file, imported and normalised, with assumed values for open extents. If that fails, the test
/// fails and the result is null.
std::shared_ptr<const Model> preparedModel(const std::filesystem::path& path);

}  // namespace fusescope::test
