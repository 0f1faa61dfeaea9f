#pragma once

namespace fusescope {

/// From here on screen readers are told the bars of each ribbon: the kernels of its lanes, by name, time and share. May
/// be called again.
void tellScreenReadersOfRibbons();

}  // namespace fusescope
