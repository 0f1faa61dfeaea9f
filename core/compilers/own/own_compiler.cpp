// Our own compiler, which runs exactly what is planned.
#include "base/version.h"
#include "compilers/compiler.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

class OwnCompiler final : public Compiler {
 public:
  std::string_view name() const override { return kOwnCompiler; }
  CompilerIdentity identity() const override {
    return {.name = kOwnCompiler, .version = std::string(kFusescopeVersion), .environment = {}};
  }
  std::string target() const override { return {}; }
  std::string whyNot(Ability) const override { return {}; }
  bool takesWholeNetworks() const override { return true; }

  /// Returns the verdicts of the plan's target, which are the first decisions of its structure.
  Result<CompilerSupport> support(const Plan& plan, const BuildOptions& options) const override {
    TRY(checkStop(options.stop));
    CompilerSupport support;
    const std::vector<NodeId>& order = plan.graph().order();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Decision& verdict = plan.structure->decisions[i];
      support.nodes.push_back({.node = plan.graph().node(order[i]).name,
                               .isAccepted = verdict.allowed,
                               .code = verdict.code,
                               .message = verdict.allowed ? "" : message(verdict)});
    }
    return support;
  }

  Result<Lowered> lower(std::shared_ptr<const Plan> plan, const BuildOptions& /*options*/) const override {
    Lowered lowered{.plan = plan};
    for (const PrecisionGrant& grant : plan->precisionMap) {
      if (grant.asked == DataType::Undefined) continue;
      const bool holds = grant.granted == grant.asked;
      lowered.pins.push_back({.node = grant.node,
                              .type = grant.asked,
                              .isExpressible = holds,
                              .how = holds ? "Its kernel calculates in this type." : "The plan says why it does not."});
    }
    return lowered;
  }

  Result<std::unique_ptr<Engine>> compile(const Lowered& lowered, const BuildOptions& options) const override {
    return buildEngine(lowered.plan, options);
  }
};

}  // namespace

const Compiler& ownCompiler() {
  static const OwnCompiler compiler;
  return compiler;
}

}  // namespace fusescope
