#include "session/tune_wishes.h"

#include "base/json_fields.h"

namespace fusescope {

Json toJson(const TuneWishes& wishes) {
  const auto number = [](const std::optional<double>& value) { return value ? jsonNumber(*value) : Json(nullptr); };
  return {{"max_error", number(wishes.maxError)},
          {"min_speedup", number(wishes.minSpeedup)},
          {"of", wishes.output},
          {"metric", wishes.metric},
          {"seconds", wishes.seconds},
          {"evaluations", wishes.evaluations},
          {"seed", wishes.seed},
          {"explain", wishes.explain},
          {"baselines", wishes.baselines}};
}

Result<TuneWishes> tuneWishesFromJson(const Json& json) {
  TuneWishes wishes;
  JsonFields fields(json);
  fields.readNumber("max_error", wishes.maxError).readNumber("min_speedup", wishes.minSpeedup);
  fields.read("of", wishes.output).read("metric", wishes.metric).readNumber("seconds", wishes.seconds);
  fields.read("evaluations", wishes.evaluations).read("seed", wishes.seed).read("explain", wishes.explain);
  fields.read("baselines", wishes.baselines);
  return fields.result(std::move(wishes));
}

}  // namespace fusescope
