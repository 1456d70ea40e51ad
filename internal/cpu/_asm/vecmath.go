package main

func vecmath() {}
