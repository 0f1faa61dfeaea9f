#pragma once

namespace fusescope {

/// Makes the bars of each ribbon available to screen readers that is made from now on: the kernels of its lanes with
/// name, time and share. It may be called more than once.
void makeRibbonsAccessible();

}  // namespace fusescope
