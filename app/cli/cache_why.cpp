// `cache why` says whether what a compiler would be asked, or what our own would measure, is kept.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "app/cli/cache.h"
#include "app/cli/table.h"
#include "base/age.h"
#include "base/text.h"
#include "cache/process_store.h"
#include "compilers/probed/network_digests.h"
#include "compilers/probed/probed_compiler.h"
#include "compilers/probed/why_kept.h"
#include "engine/kept_times.h"
#include "session/inputs/random_inputs.h"

namespace fusescope::cli {
namespace {

constexpr std::size_t kLongestValue = 60;

std::string valueText(const Json& value) {
  return value.is_null() ? "-" : shortened(value.is_string() ? value.get<std::string>() : value.dump(), kLongestValue);
}

Json whyJson(const WhyKept& why) {
  Json json{{"what", why.what}, {"op", why.op}, {"by", why.by.empty() ? Json() : Json(why.by)}, {"key", why.key}};
  json["found"] = why.found ? entryJson(*why.found) : Json();
  json["where"] = why.found ? Json(why.where) : Json();
  json["nearest"] = why.nearest ? entryJson(*why.nearest) : Json();
  json["differs"] = Json::array();
  for (const KeyDifference& each : why.differs)
    json["differs"].push_back({{"field", each.field}, {"here", each.here}, {"nearest", each.nearest}});
  json["network_differs"] = why.parts;
  json["compiled"] = why.compiled ? entryJson(*why.compiled) : Json();
  json["given_up"] = why.givenUp.empty() ? Json() : Json(why.givenUp);
  return json;
}

std::string questionText(const WhyKept& why) {
  const std::string what = why.what == why.op ? why.what : fmt::format("{} of {}", why.op, why.what);
  return why.by.empty() ? what : fmt::format("{}, as {} asks", what, why.by);
}

void printFound(const WhyKept& why) {
  std::string said = fmt::format("found {}; made {} ago by Fusescope {}, which took {}", placeInWords(why.where),
                                 ageInWords(why.found->madeAt, secondsNow()), why.found->facts.madeBy,
                                 secondsText(why.found->facts.madeMs));
  if (why.where == "disk") said += fmt::format("; found {} before", counted(why.found->hits, "time"));
  std::cout << fmt::format("{}: {}\n", questionText(why), said);
  if (!why.givenUp.empty())
    std::cout << fmt::format("  the compiled network is not kept: {}\n", why.givenUp);
  else if (why.compiled)
    std::cout << fmt::format("  the compiled network is kept, {}: commands that run it load it\n",
                             bytesText(static_cast<std::int64_t>(why.compiled->size.bytes)));
}

void printWhy(const WhyKept& why) {
  if (why.found) return printFound(why);
  if (!why.nearest) {
    std::cout << fmt::format("{}: not found, and nothing similar is kept\n", questionText(why));
    return;
  }
  std::cout << fmt::format("{}: not found; the nearest entry is of {}, {} ago, and differs:\n", questionText(why),
                           why.nearest->facts.about, ageInWords(why.nearest->madeAt, secondsNow()));
  if (!why.parts.empty()) std::cout << "  the network: " << differenceInWords(why.parts) << "\n";
  Table table({{"field"}, {"here"}, {"nearest"}});
  for (const KeyDifference& each : differencesBesideParts(why))
    table.add({each.field, valueText(each.here), valueText(each.nearest)});
  if (!table.empty()) table.print();
}

Result<int> sayAnswers(const CacheArguments& arguments, const Artifact& artifact, const ProbedCompiler& compiler) {
  const auto store = TRY(openStore());
  const auto shared = sharedStoreOfVariables(CacheMode::Read);
  BuildOptions options = buildOptions(artifact, arguments.engine.threads, {}, progressLine());
  options.onlyMade = true;
  if (!artifact.plan->model->weightless) options.verifyOn = randomInputs(*artifact.plan, {});
  const auto all = whyKept(compiler, artifact.plan, {*store, shared.get()}, options);
  clearProgressLine();
  const WhyAllKept why = TRY(all);
  const bool isFound = why.whyNot.empty() &&
                       std::ranges::all_of(why.questions, [](const WhyKept& each) { return each.found.has_value(); });
  if (arguments.json) {
    Json json = cacheDocument("why");
    json["why_not"] = why.whyNot.empty() ? Json() : Json(why.whyNot);
    json["shared_problem"] = why.shared.empty() ? Json() : Json(why.shared);
    json["questions"] = Json::array();
    for (const WhyKept& each : why.questions) json["questions"].push_back(whyJson(each));
    printJson(json);
  } else if (!why.whyNot.empty()) {
    std::cout << why.whyNot << "\n";
  } else {
    if (!why.shared.empty()) std::cerr << "fusescope: " << why.shared << "\n";
    for (const WhyKept& each : why.questions) printWhy(each);
  }
  return isFound ? kDone : kDoesNotHold;
}

Json regionJson(const KeptRegion& region) {
  Json json{{"region", region.name},
            {"equal", region.equal},
            {"tactics", region.tactics},
            {"timed", region.timed},
            {"only_chosen", region.isOnlyChosen},
            {"kept", region.isKept()},
            {"first_day", region.firstDay.empty() ? Json() : Json(region.firstDay)},
            {"last_day", region.lastDay.empty() ? Json() : Json(region.lastDay)}};
  json["differs"] = Json::array();
  for (const TimeDifference& each : region.differs)
    json["differs"].push_back({{"field", each.field}, {"here", each.here}, {"nearest", each.nearest}});
  return json;
}

std::string daysText(const KeptRegion& region) {
  if (region.firstDay.empty()) return "-";
  return region.firstDay == region.lastDay ? region.firstDay : region.firstDay + " to " + region.lastDay;
}

Result<int> sayTimes(const CacheArguments& arguments, const Artifact& artifact) {
  const std::vector<KeptRegion> regions =
      TRY(keptTimes(artifact.plan, buildOptions(artifact, arguments.engine.threads, {}, {})));
  const auto kept = std::ranges::count_if(regions, &KeptRegion::isKept);
  if (arguments.json) {
    Json json = cacheDocument("why");
    json["regions"] = Json::array();
    for (const KeptRegion& region : regions) json["regions"].push_back(regionJson(region));
    printJson(json);
  } else {
    Table table({{"region"}, {"equal", true}, {"times kept"}, {"measured"}});
    for (const KeptRegion& region : regions)
      table.add({shortened(region.name), std::to_string(region.equal), keptText(region), daysText(region)});
    if (!table.empty()) table.print();
    std::cout << fmt::format("the times of {} of {} are kept; all code is made again, in milliseconds\n", kept,
                             counted(std::ssize(regions), "distinct region"));
  }
  return kept == std::ssize(regions) ? kDone : kDoesNotHold;
}

}  // namespace

Result<int> sayWhyKept(const CacheArguments& arguments) {
  const auto artifact = TRY(open(arguments.path, arguments.plan, &arguments.engine));
  if (artifact.isOurs()) return sayTimes(arguments, artifact);
  if (const auto* compiler = dynamic_cast<const ProbedCompiler*>(&artifact.compiler()))
    return sayAnswers(arguments, artifact, *compiler);
  return Diagnostic{.message = fmt::format("nothing is kept of {}", artifact.compiler().name()),
                    .where = {.attribute = "--compiler"},
                    .help = "Name another compiler: fusescope compilers lists them."};
}

}  // namespace fusescope::cli
