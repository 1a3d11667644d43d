package main

func (a *array) losePower(asked request) (any, error) {
	return nil, failure("BAD_REQUEST", "not yet")
}
