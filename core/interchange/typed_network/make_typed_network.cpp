#include "interchange/typed_network/make_typed_network.h"

#include <fmt/format.h>

#include "interchange/typed_network/folded_for_target.h"
#include "interchange/typed_network/graph_retyper.h"
#include "interchange/typed_network/opset_raising.h"

namespace fusescope {
namespace {

using onnxlib::FileModel;

void noteTruncation(const Plan& plan, TypedNetwork& network) {
  std::size_t doubles = 0;
  for (const auto* list : {&plan.truncation.inputs, &plan.truncation.constants, &plan.truncation.produced})
    for (const TruncatedValue& value : *list) doubles += value.from == DataType::F64;
  if (doubles > 0)
    network.notes.push_back(
        {fmt::format("{} values of float64 keep that type in the network: the plan truncates them to float32 for {}",
                     doubles, plan.target.name)});
}

}  // namespace

Result<TypedNetwork> typedNetwork(const Plan& plan, const FileModel& file, const TypedNetworkOptions& options) {
  const auto found = file.opsets.find("");
  const std::int64_t own = found == file.opsets.end() ? onnxlib::newestOpset() : found->second;
  std::int64_t opset = own;
  RaisedFile at{.file = file, .edits = {}};
  for (;;) {
    TypedNetwork network{.edits = at.edits};
    RetypeContext context{.file = at.file,
                          .table = *plan.target.table,
                          .options = options,
                          .network = network,
                          .opset = opset,
                          .neededOpset = opset,
                          .neededBy = {},
                          .names = {}};
    collectNames(at.file.graph, context.names);
    GraphRetyper main(context, at.file.graph, &plan, {}, nullptr);
    TRY(main.run());
    if (context.neededOpset > opset) {  // what is allowed there may be other operands too
      at = TRY(raisedTo(context.neededOpset, file, needOfTypes(context.neededBy)));
      opset = context.neededOpset;
      continue;
    }
    TRY(main.finish());
    if (opset > own) {
      network.edits.opset = opset;
      network.notes.push_back({fmt::format(
          "the opset is raised from {} to {}, because operators accept the types of the plan only from that opset on",
          own, opset)});
    }
    foldForTarget(plan, at.file, network);
    settleRewritten(at, network.edits);
    noteTruncation(plan, network);
    return network;
  }
}

}  // namespace fusescope
