#pragma once

#include <memory>

#include "ir/model.h"

namespace fusescope::test {

/// A network whose plan has two fused nodes of one name: a kernel of the nodes a and b, and a node that is called
/// "a + b".
std::shared_ptr<const Model> networkOfOneNameTwice();

}  // namespace fusescope::test
