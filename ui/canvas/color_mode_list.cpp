#include "ui/canvas/color_mode.h"

namespace fusescope {

#define COLOR_MODE(Name) extern const ColorMode k##Name##Colors;
#include "ui/canvas/color_modes.inc"
#undef COLOR_MODE

const std::vector<const ColorMode*>& colorModes() {
  static const std::vector<const ColorMode*> kModes{
#define COLOR_MODE(Name) &k##Name##Colors,
#include "ui/canvas/color_modes.inc"
#undef COLOR_MODE
  };
  return kModes;
}

const ColorMode* findColorMode(std::string_view name) {
  for (const ColorMode* mode : colorModes())
    if (mode->name == name) return mode;
  return nullptr;
}

}  // namespace fusescope
