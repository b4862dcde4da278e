/* SPDX-License-Identifier: MIT */
/* What the files of rows share. */
#ifndef HW_LOOK_VIEWS_INTERNAL_H
#define HW_LOOK_VIEWS_INTERNAL_H

#include "core/cluster/cluster_internal.h"

/* The live replica at the position, or the next one there is; NULL at the end. */
const struct hw_replica *hw_views_live_replica(const struct hw_cluster *cluster,
                                               struct hw_position *position,
                                               const struct hw_topic **topic);

#endif /* HW_LOOK_VIEWS_INTERNAL_H */
