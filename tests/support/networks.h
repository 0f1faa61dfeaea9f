#pragma once

#include <filesystem>
#include <memory>

#include "ir/graph.h"
#include "ir/model.h"

namespace fusescope::test {

/// A network whose plan has two fused nodes of one name: a kernel of the nodes a and b, and a node that is called
/// "a + b".
std::shared_ptr<const Model> networkOfOneNameTwice();

/// The model of a file, imported and normalised, its open extents as they are assumed; null, and a failure, where that
/// cannot be.
std::shared_ptr<const Model> preparedModel(const std::filesystem::path& path);

}  // namespace fusescope::test
