#include "backends/backend.h"

#include <array>

#include "backends/native/native_backend.h"
#include "backends/reference/reference_backend.h"

namespace fusescope {
namespace {

std::int64_t roundedUp(std::int64_t extent, std::int64_t block) {
  return (extent + block - 1) / block * block;
}

}  // namespace

std::string_view name(Layout layout) {
  switch (layout) {
    case Layout::Plain:
      return "plain";
    case Layout::ChannelsLast:
      return "channels_last";
    case Layout::Blocked8:
      return "blocked8";
    case Layout::Blocked16:
      return "blocked16";
  }
  return "plain";
}

std::size_t TensorDesc::bytes() const {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::int64_t extent = dims[i];
    if (i == 1 && layout == Layout::Blocked8) extent = roundedUp(extent, 8);
    if (i == 1 && layout == Layout::Blocked16) extent = roundedUp(extent, 16);
    count *= extent;
  }
  return byteSize(dtype, count);
}

const Backend* findBackend(std::string_view name) {
  const std::array<const Backend*, 2> backends{&referenceBackend(), &nativeBackend()};
  for (const Backend* backend : backends)
    if (backend->name() == name) return backend;
  return nullptr;
}

}  // namespace fusescope
