#include "planning/prices/price.h"

#include <array>

namespace fusescope {
namespace {

constexpr std::array kSources = {PriceSource::Measured, PriceSource::Fitted, PriceSource::Unknown};

}  // namespace

std::string_view name(PriceSource source) {
  switch (source) {
    case PriceSource::Measured:
      return "measured";
    case PriceSource::Fitted:
      return "fitted";
    case PriceSource::Unknown:
      break;
  }
  return "unknown";
}

std::optional<PriceSource> priceSourceFromName(std::string_view text) {
  for (const PriceSource source : kSources)
    if (name(source) == text) return source;
  return std::nullopt;
}

}  // namespace fusescope
