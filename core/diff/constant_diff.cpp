#include <algorithm>
#include <cstring>
#include <set>

#include "diff/diff_parts.h"
#include "diff/file_match.h"
#include "ir/graph.h"
#include "verify/compare_tensors.h"

namespace fusescope {

namespace {

/// Returns the number of elements of `a` that differ in bits from those of `b`, which has the same type and extents.
std::int64_t differingElements(const Tensor& a, const Tensor& b) {
  std::int64_t count = 0;
  if (a.type() == DataType::String) {
    for (std::size_t i = 0; i < a.strings().size(); ++i) count += a.strings()[i] != b.strings()[i] ? 1 : 0;
    return count;
  }
  const std::size_t width = a.count() > 0 ? a.byteSize() / static_cast<std::size_t>(a.count()) : 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * width;
    const bool differ = width > 0 ? std::memcmp(a.bytes() + at, b.bytes() + at, width) != 0
                                  // Elements narrower than a byte are compared as integers.
                                  : a.asInt64(i) != b.asInt64(i);
    count += differ ? 1 : 0;
  }
  return count;
}

/// Returns the fused nodes of a side that contain one of `nodes`, each once, in the order of the nodes.
std::vector<CoveringNode> readersOf(const PlanLevel& level, bool ofA, const std::vector<NodeId>& nodes) {
  const Cover& plan = ofA ? *level.a : *level.b;
  std::vector<CoveringNode> readers;
  std::set<FusedNodeId> listed;
  for (const NodeId node : nodes) {
    if (!node.valid() || !plan.graph().has(node)) continue;
    for (const FusedNodeId fused : kernelsOf(plan, node))
      if (listed.insert(fused).second) readers.push_back(coveringNode(level, ofA, fused.index));
  }
  return readers;
}

}  // namespace

void addConstantChanges(const PlanLevel& level, const FileMatch& files, PlanDiff& diff) {
  diff.constantsNotCompared += files.notCompared();
  for (const OtherConstant& constant : files.otherConstants()) {
    const Value& a = unquantizedModel(*level.a->model).graph->value(constant.a);
    const Value& b = unquantizedModel(*level.b->model).graph->value(constant.b);
    std::vector<NodeId> inB;
    for (const NodeId reader : constant.readers) inB.push_back(files.match().nodeOfB[reader.index]);
    ConstantChange change{.a = level.pathOfA.of(a.name),
                          .b = level.pathOfB.of(b.name),
                          .type = a.type.text(),
                          .elements = a.constant->count(),
                          .differing = differingElements(*a.constant, *b.constant),
                          .readersOfA = readersOf(level, true, constant.readers),
                          .readersOfB = readersOf(level, false, inB)};
    if (a.constant->type() != DataType::String) {
      const TensorComparison compared = compareTensors(a.name, *b.constant, *a.constant, {});
      change.maxAbs = compared.maxAbs;
      change.maxOverRms = compared.maxOverRms;
    }
    diff.constants.push_back(std::move(change));
  }
}

}  // namespace fusescope
