#include "session/tune_wishes.h"

#include "base/json_fields.h"

namespace fusescope {

Json toJson(const TuneWishes& wishes) {
  const auto number = [](const std::optional<double>& value) { return value ? jsonNumber(*value) : Json(nullptr); };
  return {{"max_error", number(wishes.goal.maxError)},
          {"min_speedup", number(wishes.goal.minSpeedup)},
          {"of", wishes.output},
          {"metric", wishes.metric},
          {"seconds", wishes.goal.seconds},
          {"evaluations", wishes.goal.evaluations},
          {"seed", wishes.goal.seed},
          {"explain", wishes.explain},
          {"baselines", wishes.goal.baselines}};
}

Result<TuneWishes> tuneWishesFromJson(const Json& json) {
  TuneWishes wishes;
  JsonFields fields(json);
  fields.readNumber("max_error", wishes.goal.maxError).readNumber("min_speedup", wishes.goal.minSpeedup);
  fields.read("of", wishes.output).read("metric", wishes.metric).readNumber("seconds", wishes.goal.seconds);
  fields.read("evaluations", wishes.goal.evaluations).read("seed", wishes.goal.seed).read("explain", wishes.explain);
  fields.read("baselines", wishes.goal.baselines);
  return fields.result(std::move(wishes));
}

}  // namespace fusescope
